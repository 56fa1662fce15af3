import CountersignWire

extension UnitOfWork {
    /// Applies the end of a sign-in's question to the sign-in.
    ///
    /// An approval authenticates the person. Everything else leaves the sign-in open for another way; but a device or a
    /// server that has asked learns that its person has declined.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - challenge: the question.
    ///   - outcome: how it has ended.
    ///   - decider: the device that has decided; nil if nobody has read it.
    func concludeAuthorization(
        _ id: AuthorizationID, by challenge: Challenge, ended outcome: ChallengeOutcome, on decider: Enrollment?
    ) throws {
        switch outcome {
        case .approved(let method, let enrollment):
            guard let device = try decider ?? enrollments.find(enrollment) else {
                throw StoreError.corruptRow("enrollment")
            }
            let asked = try clients.find(challenge.question.client, asking: challenge.question.type)
            let isAAL2 = asked?.type.map { challenge.meetsLabel(of: $0, by: method, on: device) } ?? false
            let found = try authorizations.find(id)
            // A client's server may show no number.
            let isCarried = found?.wanted.showsNumber != false
            let authentication = Authentication(
                by: challenge, method, on: device, isAAL2: isAAL2, isCarried: isCarried, at: now)
            guard try authorizations.advance(id, to: .authenticated(authentication), at: now), let found,
                found.wanted.backchannel != nil
            else { break }
            try forget(.backchannelAsks(device.user, at: asked?.client.trustGroup.thirdParty))
            try tellBackchannel(of: found)
        case .denied, .reported, .failed:
            if let found = try authorizations.find(id), found.wanted.door != .browser {
                // There is one outcome, and no other way. An earlier question was cancelled, and decides nothing.
                guard found.ask?.challenge == challenge.id else { return }
                if try authorizations.advance(id, to: .refused, at: now) { try tellBackchannel(of: found) }
            } else {
                try authorizations.decline(id, asked: challenge.id)
            }
        // Nobody answered, or another ask took the place of this one.
        case .entered, .cancelled, .expired: break
        }
        notify(.authorization(id))
    }
}

extension Challenge {
    /// Whether an approval is worth the label AAL2 of a type.
    ///
    /// What was asked before the type got its label keeps the rules of that time, which may have been weaker.
    fileprivate func meetsLabel(of type: ChallengeType, by method: AnswerMethod, on device: Enrollment) -> Bool {
        type.isAAL2 && type.methods.contains(method) && device.satisfies(type)
            && (numberHash != nil || !type.numberEntry)
    }
}
