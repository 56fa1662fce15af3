package import CountersignCore
package import CountersignWire
package import Crypto
package import Encodings
package import OpenPGP
import TestSupport

/// A device whose every step a test can take wrongly.
package struct TestDevice: Sendable {
    /// The world it lives in.
    package let world: World
    /// What it was invited with.
    package let invitation: EnrollmentInvitation
    /// Signs receipts.
    package let primary: SigningKeyPair
    /// Signs requests.
    package let authentication: P256.Signing.PrivateKey
    /// Opens challenges.
    package let encryption: DecryptionKeyPair
    /// The certificate.
    package let certificate: Certificate

    /// Its enrollment.
    package var enrollment: EnrollmentID { invitation.enrollment }

    /// A device with new keys for an invitation.
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

    /// The same keys under another enrollment, where that is a copy of its own.
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

    /// Registers where it is reached by push.
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

    /// A request signed by the authentication key.
    ///
    /// - Parameters:
    ///   - created: the signature's time; the clock's unless a test says otherwise.
    ///   - nonce: the nonce; a new one unless a test says otherwise.
    ///   - keyID: who it says signs; the enrollment unless a test says otherwise.
    ///   - key: who signs; the authentication key unless a test says otherwise.
    ///   - arrivingAt: the path at which the request arrives; the one that was signed unless a test says otherwise.
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

    /// A call that was let in.
    package func call(nonce: String? = nil) async throws -> DeviceCall {
        try await VerifyDevice.verify(try await request(nonce: nonce), ports: world.ports).get()
    }

    /// Enrolls.
    ///
    /// - Parameters:
    ///   - ticket: the ticket sent; the invitation's unless a test says otherwise.
    ///   - certificate: the certificate sent; its own unless a test says otherwise.
    ///   - keyID: who the request says signs; the certificate sent unless a test says otherwise.
    ///   - key: who signs the request; the authentication key unless a test says otherwise.
    ///   - created: the signature's time; the clock's unless a test says otherwise.
    ///   - nonce: the nonce; a new one unless a test says otherwise.
    ///   - ports: of the node that is asked; the world's unless a test says otherwise.
    package func enroll(
        ticket: Secret<String>? = nil, certificate: Certificate? = nil, keyID: String? = nil,
        signedBy key: P256.Signing.PrivateKey? = nil, created: Int64? = nil, nonce: String? = nil,
        at ports: Ports? = nil
    ) async throws -> EnrollDevice.Outcome {
        let certificate = certificate ?? self.certificate
        let body = EnrollmentRequest(
            ticket: ticket ?? invitation.ticket, certificate: certificate.encoded,
            device: DeviceDescription(name: try DisplayLine("Test phone"), storage: .software),
            versions: [ChallengeBody.version])
        let request = try await request(
            created: created, nonce: nonce, keyID: keyID ?? "\(certificate.fingerprint)", signedBy: key)
        return try await EnrollDevice.enroll(body, provedBy: request, ports: ports ?? world.ports)
    }

    /// Fetches a challenge, as every answer needs it.
    package func open(_ challenge: ChallengeID) async throws {
        guard case .message = try await OpenChallenge.open(challenge, for: try await call(), ports: world.ports) else {
            throw World.Broken("challenge cannot be opened")
        }
    }

    /// The code that releases an approval by a link, unsealed; nil where the reply brings none.
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
    package func receipt(of challenge: Challenge, _ decision: Decision) async throws -> [UInt8] {
        let receipt = Receipt(
            of: challenge.question, user: invitation.user, device: certificate.fingerprint, decision: decision,
            answeredAt: world.time.now)
        return try await seal(receipt.text)
    }

    /// A sealed receipt of a challenge that was asked.
    package func receipt(of asked: AskedChallenge, _ decision: Decision) async throws -> [UInt8] {
        try await receipt(of: try await world.challenge(asked), decision)
    }

    /// A sealed text, signed by the primary key unless a test says otherwise.
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

    /// Opens a challenge, decides and answers.
    package func answer(_ asked: AskedChallenge, _ decision: Decision) async throws -> AnswerChallenge.Outcome {
        try await open(asked.challenge.id)
        return try await answer(asked.challenge.id, with: try await receipt(of: asked, decision))
    }
}
