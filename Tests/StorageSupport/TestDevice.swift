package import CountersignCore
package import CountersignWire
package import Crypto
package import Encodings
package import OpenPGP
import TestSupport

/// A device of which a test can change every step.
package struct TestDevice: Sendable {
    /// The fixture that the device belongs to.
    package let world: World
    package let invitation: EnrollmentInvitation
    /// Signs receipts.
    package let primary: SigningKeyPair
    /// Signs requests.
    package let authentication: P256.Signing.PrivateKey
    /// Decrypts challenges.
    package let encryption: DecryptionKeyPair
    package let certificate: Certificate

    package var enrollment: EnrollmentID { invitation.enrollment }

    /// Creates a device with new keys for an invitation, without enrolling it.
    package init(_ invitation: EnrollmentInvitation, in world: World) async throws {
        let now = world.time.now.unixSeconds
        self.world = world
        self.invitation = invitation
        let holder = try await Holder(
            userID: DeviceKeys.userID(
                of: invitation.user, enrollment: invitation.enrollment, issuer: invitation.issuer), at: now)
        primary = holder.primary
        authentication = holder.authenticationKey
        encryption = holder.encryption
        certificate = holder.certificate
    }

    /// The same keys with another enrollment, as in a copy of the deployment.
    package func copied(to enrollment: EnrollmentID, of user: UserID) -> TestDevice {
        TestDevice(
            invitation: EnrollmentInvitation(
                issuer: invitation.issuer, ticket: invitation.ticket, fingerprint: invitation.fingerprint, user: user,
                enrollment: enrollment), like: self)
    }

    private init(invitation: EnrollmentInvitation, like other: TestDevice) {
        world = other.world
        self.invitation = invitation
        primary = other.primary
        authentication = other.authentication
        encryption = other.encryption
        certificate = other.certificate
    }

    /// Registers the device for pushes.
    package func register(
        _ service: PushService, token: String, app: String = "com.example.bank"
    ) async throws {
        guard let app = AppID(app),
            let registration = PushRegistration(service: service, app: app, token: Secret(token))
        else { throw World.Broken("push registration") }
        _ = try await UpdateEnrollment.update(
            EnrollmentUpdate(push: .registered(registration)), by: try await call(), ports: world.ports
        ).get()
    }

    /// A request that is signed by the authentication key.
    ///
    /// - Parameters:
    ///   - created: the time of the signature; the clock's time by default.
    ///   - nonce: the nonce; a new one by default.
    ///   - keyID: the stated key id; the enrollment's id by default.
    ///   - key: the signing key; the authentication key by default.
    ///   - arrivingAt: the path at which the request arrives; the signed path by default.
    package func request(
        created: Int64? = nil, nonce: String? = nil, keyID: String? = nil, signedBy key: P256.Signing.PrivateKey? = nil,
        arrivingAt path: String = "/v1/enrollments/self"
    ) async throws -> DeviceRequest {
        let target = world.ports.issuer.uri("/v1/enrollments/self")
        let signed = SignedRequest(method: "GET", targetURI: target, contentDigest: nil, authorization: nil)
        let parameters = SignatureParameters(
            created: created ?? world.time.now.seconds, nonce: nonce ?? Hex.encode(world.random.bytes(16)),
            keyID: keyID ?? "\(enrollment)")
        let (input, signature) = try await parameters.sign(signed, with: key ?? authentication)
        return DeviceRequest(
            signature: try UnverifiedRequestSignature(input: input, signature: signature),
            request: SignedRequest(
                method: "GET", targetURI: world.ports.issuer.uri(path), contentDigest: nil, authorization: nil),
            body: [])
    }

    /// A verified call of the device.
    package func call(nonce: String? = nil) async throws -> DeviceCall {
        try await VerifyDevice.verify(try await request(nonce: nonce), ports: world.ports).get()
    }

    /// Enrolls the device.
    ///
    /// - Parameters:
    ///   - ticket: the ticket; the invitation's by default.
    ///   - certificate: the certificate; the device's own by default.
    ///   - keyID: the stated key id; that of the certificate by default.
    ///   - key: the key that signs the request; the authentication key by default.
    ///   - created: the time of the signature; the clock's time by default.
    ///   - nonce: the nonce; a new one by default.
    ///   - push: the registration for pushes; nil for none.
    ///   - ports: the dependencies of the node that is called; those of the fixture by default.
    package func enroll(
        ticket: Secret<String>? = nil, certificate: Certificate? = nil, keyID: String? = nil,
        signedBy key: P256.Signing.PrivateKey? = nil, created: Int64? = nil, nonce: String? = nil,
        push: PushRegistration? = nil, at ports: Ports? = nil
    ) async throws -> EnrollDevice.Outcome {
        let certificate = certificate ?? self.certificate
        let body = EnrollmentRequest(
            ticket: ticket ?? invitation.ticket, certificate: certificate.encoded,
            device: DeviceDescription(name: try DisplayLine("Test phone"), storage: .software),
            versions: [ChallengeBody.version], push: push)
        let request = try await request(
            created: created, nonce: nonce, keyID: keyID ?? "\(certificate.fingerprint)", signedBy: key)
        return try await EnrollDevice.enroll(body, provedBy: request, ports: ports ?? world.ports)
    }

    /// Fetches a challenge, which must precede every answer.
    package func open(_ challenge: ChallengeID) async throws {
        guard case .message = try await OpenChallenge.open(challenge, for: try await call(), ports: world.ports) else {
            throw World.Broken("challenge cannot be opened")
        }
    }

    /// The return code in the reply to the approval of a link, decrypted; nil if there is none.
    package func returnCode(in outcome: AnswerChallenge.Outcome) async throws -> Secret<String>? {
        guard case .decided(let reply) = outcome, let sealed = reply.returnMessage else { return nil }
        let opened = try await EncryptedMessage.open(
            sealed, with: encryption, signers: try world.issuerKeys.certificate.keys,
            intendedRecipient: certificate.fingerprint, now: world.time.now.unixSeconds)
        let message = try ReturnMessage(try JSONValue(parsing: opened.content))
        guard message.enrollment == enrollment, message.issuer == world.ports.issuer else {
            throw World.Broken("the code is somebody else's")
        }
        return message.code
    }

    /// A sealed receipt of a challenge.
    package func receipt(
        of challenge: Challenge, _ decision: Decision, signedBy signer: SigningKeyPair? = nil
    ) async throws -> [UInt8] {
        let receipt = Receipt(
            of: challenge.question, user: invitation.user, device: certificate.fingerprint, decision: decision,
            answeredAt: world.time.now)
        return try await seal(receipt.text, signedBy: signer)
    }

    /// A sealed receipt of a challenge that was asked.
    package func receipt(of asked: AskedChallenge, _ decision: Decision) async throws -> [UInt8] {
        try await receipt(of: try await world.challenge(asked), decision)
    }

    /// A sealed text, signed by the primary key by default.
    package func seal(_ text: String, signedBy signer: SigningKeyPair? = nil) async throws -> [UInt8] {
        let now = world.time.now.unixSeconds
        let server = try world.issuerKeys.certificate
        return try await EncryptedMessage.seal(
            .text(text), signedBy: signer ?? primary, to: try server.key(for: .encrypt, at: now).publicKey,
            intendedRecipient: server.fingerprint, at: now)
    }

    /// Sends a sealed answer.
    package func answer(_ challenge: ChallengeID, with message: [UInt8]) async throws -> AnswerChallenge.Outcome {
        try await answer(challenge, with: AnswerRequest(message: message))
    }

    /// Sends an answer.
    package func answer(_ challenge: ChallengeID, with request: AnswerRequest) async throws -> AnswerChallenge.Outcome {
        try await AnswerChallenge.answer(request, to: challenge, by: try await call(), ports: world.ports)
    }

    /// Opens a challenge and answers it with a decision.
    package func answer(_ asked: AskedChallenge, _ decision: Decision) async throws -> AnswerChallenge.Outcome {
        try await open(asked.challenge.id)
        return try await answer(asked.challenge.id, with: try await receipt(of: asked, decision))
    }
}
