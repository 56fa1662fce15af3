public import CountersignWire
import Encodings
import OpenPGP

/// The announcement of a challenge: verified, without anything secret.
public struct PendingChallenge: Sendable {
    /// The challenge's id.
    public let id: ChallengeID
    /// The enrollment it is for.
    public let enrollment: EnrollmentID
    /// Who asks.
    public let clientName: String
    /// The short message for a notification or a list.
    ///
    /// The full content is in the opened challenge.
    public let message: String
    /// The name of the challenge type.
    public let type: String
    /// When it was asked.
    public let askedAt: Timestamp
    /// When it ends unanswered.
    public let expiresAt: Timestamp
    private let authenticator: Authenticator

    init(_ envelope: PushEnvelope, authenticator: Authenticator) {
        id = envelope.challenge
        enrollment = envelope.enrollment
        clientName = envelope.alert.title
        message = envelope.alert.body
        type = "\(envelope.challengeType)"
        askedAt = envelope.issuedAt
        expiresAt = envelope.expiresAt
        self.authenticator = authenticator
    }

    /// Fetches, decrypts and verifies the challenge.
    ///
    /// - Throws: ``CountersignError/alreadyAnswered`` and similar errors when the challenge has ended; `.notHandleable`
    ///   when it does not pass the checks: then show nothing of it.
    public func open() async throws(CountersignError) -> OpenedChallenge {
        try await authenticator.open(id, for: enrollment)
    }
}

extension Authenticator {
    /// Opens a challenge by its id.
    ///
    /// See ``PendingChallenge/open()``.
    public func open(_ id: ChallengeID, for enrollment: EnrollmentID) async throws(CountersignError) -> OpenedChallenge
    {
        guard let stored = await roster[enrollment] else { throw .notEnrolled }
        let response = try await send("GET", "/v1/challenges/\(id)/message", for: stored)
        guard let message = try response.json()["message"]?.string.flatMap({ Base64.decode($0) }) else {
            throw .serverUnreachable(status: response.status)
        }
        let body = try await unseal(message, for: stored)
        // Spec: design 3.3: a challenge is shown only if all of it matches the request.
        guard body.question.challenge == id, body.question.issuer == stored.issuer, body.enrollment == stored.id,
            body.user == stored.user
        else { throw .notHandleable(reason: "it is meant for somebody else") }
        guard body.expiresAt > (await connection.now).adding(seconds: -allowedSkew) else { throw .challengeExpired }
        guard !body.methods.isEmpty else { throw .notHandleable(reason: "it is to be answered by unknown methods") }
        if let place = body.returnURI, !place.isOpened(by: returnSchemes, asked: stored.issuer) {
            throw .notHandleable(reason: "this app does not go back to \(place.place)")
        }
        return OpenedChallenge(body, stored: stored, authenticator: self)
    }

    private func unseal(
        _ message: [UInt8], for stored: StoredEnrollment
    ) async throws(CountersignError) -> ChallengeBody {
        let json = try await opened(message, for: stored)
        do { return try ChallengeBody(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    /// Opens a message that the server has signed and sealed to an enrollment.
    func opened(_ message: [UInt8], for stored: StoredEnrollment) async throws(CountersignError) -> JSONValue {
        guard let key = try await vaulted({ [vault] in try await vault.agreementKey(.encryption, of: stored.id) })
        else {
            throw .notEnrolled
        }
        let now = await connection.now.adding(seconds: allowedSkew).unixSeconds
        func open(_ certificate: Certificate) async throws -> VerifiedMessage {
            // Spec: design 3.1: a revoked key is never accepted, whatever date its signature bears.
            try await EncryptedMessage.open(
                message, with: DecryptionKeyPair(key, createdAt: stored.createdAt),
                signers: certificate.keys.filter { $0.revokedAt == nil },
                intendedRecipient: stored.certificate.fingerprint, now: now)
        }
        let opened: VerifiedMessage
        do {
            do {
                opened = try await open(await serverCertificate(of: stored))
            } catch OpenPGPError.unknownSigner {
                opened = try await open(try await refreshedServerCertificate(of: stored))
            }
        } catch OpenPGPError.unknownSigner {
            throw .serverChanged
        } catch let error as CountersignError {
            throw error
        } catch {
            throw .notHandleable(reason: "OpenPGP: \(error)")
        }
        guard opened.signature.type == .binary, let json = try? JSONValue(parsing: opened.content) else {
            throw .notHandleable(reason: "it is not JSON")
        }
        return json
    }
}
