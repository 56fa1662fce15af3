import CountersignWire
import Encodings

extension Enrollment {
    /// What this device signs to sign its user in at a client; it is good once, for a minute.
    ///
    /// - Parameters:
    ///   - client: the client's id.
    ///   - challenge: the challenge that the person has approved for it; nil for none.
    func assertion(for client: String, by challenge: ChallengeID?) async throws(CountersignError) -> String {
        var generator = SystemRandomNumberGenerator()
        let assertion = DeviceAssertion(
            enrollment: id, user: user, issuer: stored.issuer, client: client, challenge: challenge,
            named: Base64URL.encode((0..<18).map { _ in generator.next() }), at: await authenticator.connection.now)
        let (vault, id) = (authenticator.vault, id)
        return try await vaulted {
            guard let key = try await vault.signingKey(.authentication, of: id) else {
                throw CountersignError.notEnrolled
            }
            return try await assertion.signed(by: key)
        }
    }

    /// The challenge that the person has approved for a sign-in, for which the server was asked; nil if possession is all
    /// that is shown.
    func approved(for client: String, by proof: Proof) async throws(CountersignError) -> ChallengeID? {
        switch proof {
        case .confirmation: return nil
        case .pin, .biometric: break
        case .custom: throw .configurationInvalid("a custom authenticator signs nobody in")
        }
        let json = try await authenticator.send(
            "POST", "/v1/enrollments/self/sign-ins", body: OwnSignInRequest(client: client).json, for: stored
        ).json()
        guard let challenge = json["challenge"]?.string.flatMap({ ChallengeID($0) }) else {
            throw .notHandleable(reason: "the server names no challenge")
        }
        let question = try await authenticator.open(challenge, for: id)
        // Nobody looks at it before it is signed, so it must be this sign-in, whatever the server says.
        guard question.type == "\(TypeName.ownSignIn)", question.client.id == client else {
            throw .notHandleable(reason: "the server asks for something other than this sign-in")
        }
        _ = try await question.approve(with: proof)
        return challenge
    }

    /// Why this enrollment can sign nobody in, as far as it is the enrollment's state; nil for another reason.
    func refusalByState() async throws(CountersignError) -> CountersignError? {
        let json = try await authenticator.send("GET", "/v1/enrollments/self", for: stored).json()
        switch json["state"]?.string {
        case "waiting": return .enrollmentWaiting
        case "suspended": return .enrollmentSuspended
        default: return nil
        }
    }
}
