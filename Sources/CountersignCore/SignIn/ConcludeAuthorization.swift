import CountersignWire

extension UnitOfWork {
    /// Applies the end of a sign-in's question to the sign-in.
    ///
    /// An approval authenticates the person. Everything else leaves the sign-in open for another way.
    func concludeAuthorization(
        _ id: AuthorizationID, by challenge: Challenge, ended outcome: ChallengeOutcome
    ) throws {
        switch outcome {
        case .approved(let method, let enrollment):
            guard let device = try enrollments.find(enrollment) else { throw StoreError.corruptRow("enrollment") }
            let isAAL2 = try types.find(challenge.question.type)?.isAAL2 ?? false
            let authentication = Authentication(by: challenge, method, on: device, isAAL2: isAAL2, at: now)
            _ = try authorizations.advance(id, to: .authenticated(authentication), at: now)
        case .denied, .reported, .failed: try authorizations.decline(id, asked: challenge.id)
        // Nobody answered, or another ask took the place of this one.
        case .entered, .cancelled, .expired: break
        }
        notify(.authorization(id))
    }
}
