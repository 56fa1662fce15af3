package import CountersignCore
package import CountersignWire
import Crypto
package import Encodings
package import JOSE

/// A device that has JWKs, of which a test can change every step.
package struct TestJWKDevice: Sendable {
    /// The kinds of keys that such devices have.
    package enum Kind: String, CaseIterable, Sendable {
        case p256, ed25519, rsa

        /// A new key of the kind.
        package func key(named name: String) throws -> PrivateJWK {
            switch self {
            case .p256: PrivateJWK(P256.Signing.PrivateKey(), keyID: name)
            case .ed25519: PrivateJWK(Curve25519.Signing.PrivateKey(), keyID: name)
            case .rsa: PrivateJWK(try RSAPrivateKey(), keyID: name)
            }
        }
    }

    /// The fixture that the device belongs to.
    package let world: World
    package let invitation: EnrollmentInvitation
    /// Shows possession of the device.
    package let possession: PrivateJWK
    /// The user's biometric; nil if the device has no such key.
    package let verification: PrivateJWK?

    package var enrollment: EnrollmentID { invitation.enrollment }

    /// Creates a device for an invitation, without enrolling it.
    ///
    /// - Parameters:
    ///   - invitation: the invitation.
    ///   - world: the fixture.
    ///   - kind: the kind of its keys.
    ///   - verifies: whether it has a key for the user's biometric.
    ///   - possession: the key of possession; a new one by default.
    package init(
        _ invitation: EnrollmentInvitation, in world: World, _ kind: Kind = .p256, verifies: Bool = false,
        possession: PrivateJWK? = nil
    ) throws {
        self.world = world
        self.invitation = invitation
        self.possession = try possession ?? kind.key(named: "possession")
        verification = try verifies ? kind.key(named: "verification") : nil
    }

    /// The public keys.
    package var keys: DeviceJWKs {
        get throws {
            try DeviceJWKs(
                proofOfPossession: possession.publicKey.json, userVerification: verification?.publicKey.json)
        }
    }

    /// Enrolls the device.
    ///
    /// - Parameters:
    ///   - ticket: the ticket; the invitation's by default.
    ///   - keys: the keys; the device's own by default.
    ///   - storage: where the device says that it keeps its keys.
    ///   - push: the registration for pushes; nil for none.
    package func enroll(
        ticket: Secret<String>? = nil, keys: DeviceJWKs? = nil, storage: KeyStorage = .enclave,
        push: PushRegistration? = nil
    ) async throws -> EnrollByJWK.Outcome {
        let request = EnrollByJWK.Request(
            ticket: ticket ?? invitation.ticket, keys: try keys ?? self.keys,
            device: DeviceDescription(name: try DisplayLine("Other phone"), storage: storage), push: push)
        return try await EnrollByJWK.enroll(request, ports: world.ports)
    }

    /// The claims of the approval of a challenge, as the vendor's SDK writes them.
    package func claims(for challenge: Challenge, at time: Int64? = nil) -> JSONObject {
        let now = time ?? world.time.now.seconds
        return [
            "iss": .string("\(enrollment)"), "aud": .string("\(world.ports.issuer)"),
            "sub": .string("\(invitation.user)"), "iat": .integer(now), "exp": .integer(now + 300),
            "nbf": .integer(now - 300), "jti": .string(Hex.encode(world.random.bytes(16))),
            "tx": .string("\(challenge.id)"), "nonce": .string("\(challenge.question.nonce)"), "amr": .array([]),
            "keyType": "proofOfPossession", "methodEnrollmentId": .string("\(enrollment)"),
            "challengeResponseContext": ["userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "LOGIN"],
        ]
    }

    /// A signed answer.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - consent: what the app says that its user did.
    ///   - verified: whether the key of the user's biometric signs.
    ///   - key: the key that signs; the device's own by default.
    ///   - type: the header `typ`.
    ///   - keyID: the header `kid`; the key's name by default.
    ///   - change: changes the claims.
    package func token(
        for challenge: Challenge, _ consent: String = "APPROVED_CONSENT_PROMPT", verified: Bool = false,
        signedBy key: PrivateJWK? = nil, type: String = JWTAnswer.type, keyID: String? = nil,
        _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        var claims = claims(for: challenge)
        claims["keyType"] = verified ? "userVerification" : "proofOfPossession"
        claims["challengeResponseContext"] = ["userConsent": .string(consent), "transactionType": "LOGIN"]
        change(&claims)
        guard let own = verified ? verification : possession else { throw World.Broken("no key for a biometric") }
        let signer = key ?? own
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: type, by: signer, keyID: keyID ?? signer.keyID)
    }

    /// Sends an answer.
    package func answer(_ challenge: ChallengeID, with token: String) async throws -> AnswerByJWT.Outcome {
        try await AnswerByJWT.answer(token, to: challenge, ports: world.ports)
    }

    /// Answers a challenge.
    package func answer(
        _ asked: AskedChallenge, _ consent: String = "APPROVED_CONSENT_PROMPT", verified: Bool = false
    ) async throws -> AnswerByJWT.Outcome {
        let token = try await token(for: try await world.challenge(asked), consent, verified: verified)
        return try await answer(asked.challenge.id, with: token)
    }
}

extension World {
    /// Creates and enrolls a device of a user that has JWKs.
    package func makeJWKDevice(
        of user: UserID, by client: Client, _ kind: TestJWKDevice.Kind = .p256, verifies: Bool = false
    ) async throws -> TestJWKDevice {
        let invitation = try await makeTicket(for: user, by: client)
        let device = try TestJWKDevice(invitation, in: self, kind, verifies: verifies)
        guard case .enrolled = try await device.enroll() else { throw Broken("device with JWKs") }
        return device
    }

    /// Creates a type that devices with JWKs may answer.
    @discardableResult
    package func makeWeakType(
        _ name: String = "tap", methods: [AnswerMethod] = [.confirm], assurance: Assurance = .challenge,
        numberEntry: Bool = false, channel: ChannelKind = .devices, isAAL2: Bool = false
    ) async throws -> ChallengeType {
        guard let name = TypeName(name) else { throw Broken("type name") }
        let type = ChallengeType(
            name: name, methods: methods, channel: channel, numberEntry: numberEntry, assurance: assurance,
            isAAL2: isAAL2, maximumPending: 1000, maximumAsks: isAAL2 ? 100 : 1000, denialPause: 0)
        try await ports.store.commit { try $0.types.put(type) }
        return type
    }
}
