package import Crypto
package import CountersignWire
package import Encodings
import Foundation
package import NIOHTTP1
package import OpenPGP
package import TestSupport

/// A phone that uses only the wire formats, so that a test can make any mistake with it.
package struct TestPhone: Sendable {
    package let server: TestServer
    /// The invitation, with the ticket, the issuer and the ids.
    package let invitation: EnrollmentInvitation
    /// The primary key, which signs receipts.
    package let primary: SigningKeyPair
    /// The key that signs requests.
    package let authentication: P256.Signing.PrivateKey
    /// The key to which challenges are encrypted.
    package let encryption: DecryptionKeyPair
    package let certificate: Certificate
    /// The server's certificate.
    package let serverCertificate: Certificate

    package var enrollment: EnrollmentID { invitation.enrollment }
    package var user: UserID { invitation.user }

    /// Creates a phone with new keys for an invitation, without enrolling it.
    package init(invitation text: String, server: TestServer) async throws {
        guard let invitation = EnrollmentInvitation(text) else {
            throw UnexpectedReply(description: "not an invitation: \(text)")
        }
        self.server = server
        self.invitation = invitation
        let now = server.clock.now.unixSeconds
        let holder = try await Holder(
            userID: DeviceKeys.userID(
                of: invitation.user, enrollment: invitation.enrollment, issuer: invitation.issuer), at: now)
        primary = holder.primary
        authentication = holder.authenticationKey
        encryption = holder.encryption
        certificate = holder.certificate
        let reply = try await server.send(.GET, "/v1/server-certificate")
        serverCertificate = try Certificate(armored: String(decoding: reply.body, as: UTF8.self))
    }

    /// Creates a phone with other keys for the same invitation.
    package init(_ other: TestPhone, holder: Holder) {
        server = other.server
        invitation = other.invitation
        serverCertificate = other.serverCertificate
        primary = holder.primary
        authentication = holder.authenticationKey
        encryption = holder.encryption
        certificate = holder.certificate
    }

    /// Creates a phone and enrolls it for a user of a client.
    package static func enrolled(for user: String, by client: Caller, at server: TestServer) async throws -> Self {
        let phone = try await Self(invitation: try await client.makeTicket(for: user), server: server)
        _ = try await phone.enroll().success()
        return phone
    }

    /// The body of the phone's enrollment request.
    package var enrollmentRequest: JSONValue {
        get throws {
            EnrollmentRequest(
                ticket: invitation.ticket, certificate: certificate.encoded,
                device: DeviceDescription(name: try DisplayLine("Test phone"), storage: .software),
                versions: [ChallengeBody.version]
            ).json
        }
    }

    /// Sends its enrollment request.
    package func enroll() async throws -> Reply {
        try await send(.POST, "/v1/enrollments", try enrollmentRequest, keyID: "\(certificate.fingerprint)")
    }

    /// Signs and sends a request.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path and the query.
    ///   - body: the body as JSON.
    ///   - keyID: the stated key id; the enrollment's id by default.
    ///   - nonce: the nonce; a random one by default.
    ///   - createdIn: how far the phone's clock is ahead, in seconds.
    ///   - sentBody: a body that is sent instead of the signed one.
    package func send(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, keyID: String? = nil, nonce: String? = nil,
        createdIn: Int64 = 0, sentBody: [UInt8]? = nil
    ) async throws -> Reply {
        let bytes = body?.encoded
        let headers = try await signature(
            method, path, body: bytes, keyID: keyID, nonce: nonce, createdIn: createdIn)
        return try await server.send(method, path, headers: headers, body: sentBody ?? bytes)
    }

    /// The header fields with the signature and the digest of the body.
    ///
    /// See ``send(_:_:_:keyID:nonce:createdIn:sentBody:)``.
    package func signature(
        _ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, keyID: String? = nil, nonce: String? = nil,
        createdIn: Int64 = 0
    ) async throws -> [(String, String)] {
        let digest = body.map { ContentDigest.field(for: $0) }
        let request = SignedRequest(
            method: method.rawValue, targetURI: server.issuer.uri(path), contentDigest: digest, authorization: nil)
        let parameters = SignatureParameters(
            created: server.clock.now.seconds + createdIn, nonce: nonce ?? Base64URL.encode(Array(UUID().text.utf8)),
            keyID: keyID ?? "\(enrollment)")
        let (input, signature) = try await parameters.sign(request, with: authentication)
        let ofBody = digest.map { [("Content-Digest", $0), ("Content-Type", "application/json")] }
        return [("Signature-Input", input), ("Signature", signature)] + (ofBody ?? [])
    }

    /// Fetches and decrypts a challenge.
    package func open(_ challenge: String) async throws -> ChallengeBody {
        let reply = try await send(.GET, "/v1/challenges/\(challenge)/message").success()
        guard let message = reply["message"]?.string.flatMap({ Base64.decode($0) }) else {
            throw UnexpectedReply(description: "no message in \(reply)")
        }
        return try await unseal(message)
    }

    /// Decrypts a challenge.
    package func unseal(_ message: [UInt8]) async throws -> ChallengeBody {
        let opened = try await EncryptedMessage.open(
            message, with: encryption, signers: serverCertificate.keys, intendedRecipient: certificate.fingerprint,
            now: server.clock.now.unixSeconds)
        let body = try ChallengeBody(try JSONValue(parsing: opened.content))
        server.watch.plant("\(body.question.nonce)", "the nonce of a challenge", for: .anyReply)
        return body
    }

    /// The return code in the reply to the approval of a link, decrypted.
    package func returnCode(in reply: JSONValue) async throws -> String {
        guard let sealed = reply["return"]?.string.flatMap({ Base64.decode($0) }) else {
            throw UnexpectedReply(description: "no code in \(reply)")
        }
        let opened = try await EncryptedMessage.open(
            sealed, with: encryption, signers: serverCertificate.keys, intendedRecipient: certificate.fingerprint,
            now: server.clock.now.unixSeconds)
        let code = try ReturnMessage(try JSONValue(parsing: opened.content)).code.reveal()
        server.watch.plant(code, "the code that releases an approval", for: .nobody)
        return code
    }

    /// The receipt that the phone would sign.
    package func receipt(of question: Question, _ decision: Decision) -> Receipt {
        Receipt(
            of: question, user: user, device: certificate.fingerprint, decision: decision, answeredAt: server.clock.now)
    }

    /// A sealed answer with a text.
    ///
    /// - Parameters:
    ///   - text: the text to sign, normally that of a receipt.
    ///   - signer: the signing key; the phone's primary key by default.
    ///   - intendedRecipient: the intended recipient; the server by default.
    package func seal(
        _ text: String, signedBy signer: SigningKeyPair? = nil, intendedRecipient: Fingerprint? = nil
    ) async throws -> [UInt8] {
        let now = server.clock.now.unixSeconds
        return try await EncryptedMessage.seal(
            .text(text), signedBy: signer ?? primary,
            to: try serverCertificate.key(for: .encrypt, at: now).publicKey,
            intendedRecipient: intendedRecipient ?? serverCertificate.fingerprint, at: now)
    }

    /// Sends a sealed answer.
    package func answer(_ challenge: String, message: [UInt8]) async throws -> Reply {
        try await send(.POST, "/v1/challenges/\(challenge)/answer", AnswerRequest(message: message).json)
    }

    /// Opens a challenge and answers it with a decision.
    package func answer(_ challenge: String, _ decision: Decision) async throws -> Reply {
        let question = try await open(challenge).question
        return try await answer(challenge, message: try await seal(receipt(of: question, decision).text))
    }
}

extension UUID {
    fileprivate var text: String { String(uuidString.prefix(23)) }
}
