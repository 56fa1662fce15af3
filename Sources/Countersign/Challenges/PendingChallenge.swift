public import CountersignWire
import Encodings
import OpenPGP

/// A challenge that waits for an answer, as a push announced it or as the server listed it: verified.
///
/// Its public properties are what a notification or a list may show.
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
    /// How long the challenge is taken as the list brought it.
    private static let freshness = Duration.seconds(10)

    /// The challenge itself, if the server's list brought it; a push only announces it.
    private let body: ChallengeBody?
    private let madeAt = ContinuousClock.now
    private let authenticator: Authenticator

    init(_ envelope: PushEnvelope, authenticator: Authenticator) {
        id = envelope.challenge
        enrollment = envelope.enrollment
        clientName = envelope.alert.title
        message = envelope.alert.body
        type = "\(envelope.challengeType)"
        askedAt = envelope.issuedAt
        expiresAt = envelope.expiresAt
        body = nil
        self.authenticator = authenticator
    }

    init(_ body: ChallengeBody, authenticator: Authenticator) {
        id = body.question.challenge
        enrollment = body.enrollment
        clientName = body.question.clientName.text
        message = (body.alert ?? body.question.message).text
        type = "\(body.question.type)"
        askedAt = body.question.askedAt
        expiresAt = body.expiresAt
        self.body = body
        self.authenticator = authenticator
    }

    /// The whole challenge, decrypted and verified; it is fetched first unless the server's list has just brought it.
    ///
    /// - Throws: ``CountersignError/alreadyAnswered`` and similar errors when the challenge had ended before it was
    ///   fetched; `.notHandleable` when it does not pass the checks: then show nothing of it.
    public func open() async throws(CountersignError) -> OpenedChallenge {
        // Later it may have ended, or fewer wrong PINs may be left.
        guard let body, madeAt.duration(to: .now) < Self.freshness else {
            return try await authenticator.open(id, for: enrollment)
        }
        return try await authenticator.opened(body)
    }
}

extension Authenticator {
    /// Opens a challenge by its id.
    ///
    /// See ``PendingChallenge/open()``.
    public func open(_ id: ChallengeID, for enrollment: EnrollmentID) async throws(CountersignError) -> OpenedChallenge
    {
        guard let stored = await roster[enrollment] else { throw .notEnrolled }
        return try await opened(try await fetch(id, for: stored))
    }

    /// A challenge that was unsealed, unless it is too late for it, or the app cannot answer it.
    func opened(_ body: ChallengeBody) async throws(CountersignError) -> OpenedChallenge {
        guard let stored = await roster[body.enrollment] else { throw .notEnrolled }
        guard body.expiresAt > (await connection.now).adding(seconds: -allowedSkew) else { throw .challengeExpired }
        guard !body.methods.isEmpty else { throw .notHandleable(reason: "it is to be answered by unknown methods") }
        if let place = body.returnURI, !place.isOpened(by: returnSchemes, asked: stored.issuer) {
            throw .notHandleable(reason: "this app does not go back to \(place.place)")
        }
        return OpenedChallenge(body, stored: stored, authenticator: self)
    }

    /// Fetches and unseals a challenge.
    func fetch(_ id: ChallengeID, for stored: StoredEnrollment) async throws(CountersignError) -> ChallengeBody {
        let response = try await send("GET", "/v1/challenges/\(id)/message", for: stored)
        guard let message = try response.json()["message"]?.string.flatMap({ Base64.decode($0) }) else {
            throw .serverUnreachable(status: response.status)
        }
        return try await unseal(message, naming: id, for: stored)
    }

    /// Unseals a challenge, and checks that it is the one that was asked for.
    func unseal(
        _ message: [UInt8], naming id: ChallengeID, for stored: StoredEnrollment
    ) async throws(CountersignError) -> ChallengeBody {
        let json = try await opened(message, for: stored)
        let body: ChallengeBody
        do { body = try ChallengeBody(json) } catch { throw .notHandleable(reason: "\(error)") }
        // Spec: docs/protocol/challenges.md, *The sealed body*: it is shown only if all of it matches the request.
        guard body.question.challenge == id, body.question.issuer == stored.issuer, body.enrollment == stored.id,
            body.user == stored.user
        else { throw .notHandleable(reason: "it is meant for somebody else") }
        return body
    }

    /// Opens a message that the server has signed and sealed to an enrollment.
    func opened(_ message: [UInt8], for stored: StoredEnrollment) async throws(CountersignError) -> JSONValue {
        guard let key = try await vaulted({ [vault] in try await vault.agreementKey(.encryption, of: stored.id) })
        else {
            throw .notEnrolled
        }
        let now = await connection.now.adding(seconds: allowedSkew).unixSeconds
        func open(_ certificate: Certificate) async throws -> VerifiedMessage {
            // Spec: docs/protocol/messages.md, *Keys and times*: no revoked key, whatever date its signature bears.
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
