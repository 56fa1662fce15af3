import Crypto
import CountersignWire
import Encodings
import OpenPGP

/// An answer that was signed and sealed and whose reply has not come yet.
///
/// The same bytes sent again get the recorded reply; bytes made anew would be a second answer.
private struct KeptAnswer: Sendable {
    private static let prefix = "answer-"

    let decision: Decision
    let message: [UInt8]

    static func record(_ challenge: ChallengeID) -> String { prefix + "\(challenge)" }

    /// The challenge a record is the answer to, or nil for another record.
    static func challenge(_ record: String) -> ChallengeID? {
        record.hasPrefix(prefix) ? ChallengeID(record.dropFirst(prefix.count)) : nil
    }

    /// Stands for the decision without telling the number.
    private static func fingerprint(_ decision: Decision, _ challenge: ChallengeID) -> String {
        var text = "\(challenge) \(decision.name)"
        if case .approved(let method, let number) = decision { text += " \(method.rawValue) \(number?.digits ?? "")" }
        return Base64.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

    static func encode(_ message: [UInt8], _ decision: Decision, _ challenge: ChallengeID) -> [UInt8] {
        JSONValue.members([
            "v": 1, "decision": .string(fingerprint(decision, challenge)), "message": .string(Base64.encode(message)),
        ]).encoded
    }

    /// The kept message, if it says the same.
    static func message(in record: [UInt8], decision: Decision?, _ challenge: ChallengeID) -> [UInt8]? {
        guard let json = try? JSONValue(parsing: record), json["v"] == 1 else { return nil }
        if let decision, json["decision"] != .string(fingerprint(decision, challenge)) { return nil }
        return json["message"]?.string.flatMap { Base64.decode($0) }
    }
}

extension Authenticator {
    /// Signs, seals and sends an answer, and sends the same bytes again until there is a reply, the challenge is over
    /// or the task is cancelled.
    ///
    /// - Parameters:
    ///   - question: what is answered.
    ///   - decision: how.
    ///   - proof: who signs; the primary key for a confirmation and for every no.
    ///   - stored: by whom.
    ///   - end: when the challenge is over.
    func answer(
        _ question: Question, _ decision: Decision, by proof: Proof = .confirmation, for stored: StoredEnrollment,
        until end: Timestamp
    ) async throws(CountersignError) -> ChallengeStanding {
        let id = question.challenge
        let kept = try await vaulted { [vault] in try await vault.record(KeptAnswer.record(id), of: stored.id) }
        if let again = kept.flatMap({ KeptAnswer.message(in: $0, decision: decision, id) }) {
            return try await deliver(again, to: id, for: stored, until: end)
        }
        // A new decision replaces what was not delivered of an earlier one.
        let correction = await connection.correction
        do {
            return try await send(question, decision, proof, for: stored, until: end)
        } catch .server(let problem) where problem.knownCode == .answerInvalid {
            // The clock was set since the question was read, which the server's reply told only now.
            guard await connection.correction != correction else { throw .server(problem) }
            return try await send(question, decision, proof, for: stored, until: end)
        }
    }

    /// Makes an answer, keeps it, and sends it.
    private func send(
        _ question: Question, _ decision: Decision, _ proof: Proof, for stored: StoredEnrollment, until end: Timestamp
    ) async throws(CountersignError) -> ChallengeStanding {
        let id = question.challenge
        let message = try await seal(question, decision, proof, for: stored)
        try await vaulted { [vault] in
            try await vault.write(
                KeptAnswer.encode(message, decision, id), as: KeptAnswer.record(id), of: stored.id)
        }
        return try await deliver(message, to: id, for: stored, until: end)
    }

    /// Sends answers whose reply was lost with the last run of the app.
    func resumeAnswers(for stored: StoredEnrollment) async throws(CountersignError) {
        let records = try await vaulted { [vault] in try await vault.records(of: stored.id) }
        for record in records {
            guard let id = KeptAnswer.challenge(record) else { continue }
            let kept = try await vaulted { [vault] in try await vault.record(record, of: stored.id) }
            guard let message = kept.flatMap({ KeptAnswer.message(in: $0, decision: nil, id) }) else {
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                continue
            }
            do throws(CountersignError) {
                _ = try await deliver(message, to: id, for: stored, until: await connection.now)
            } catch {
                guard !error.retryHelps else { throw error }
            }
        }
    }

    private func seal(
        _ question: Question, _ decision: Decision, _ proof: Proof, for stored: StoredEnrollment
    ) async throws(CountersignError) -> [UInt8] {
        let receipt = Receipt(
            of: question, user: stored.user, device: stored.certificate.fingerprint, decision: decision,
            answeredAt: await connection.now)
        let signer: SigningKeyPair
        switch proof {
        case .confirmation:
            guard let key = try await vaulted({ [vault] in try await vault.signingKey(.primary, of: stored.id) }) else {
                throw .notEnrolled
            }
            signer = SigningKeyPair(key, createdAt: stored.createdAt)
        case .pin(let pin): signer = try await signingKey(of: pin, for: stored)
        case .biometric(let prompt): signer = try await biometricKey(prompt, of: stored)
        }
        return try await seal(receipt.text, signedBy: signer, for: stored)
    }

    /// Signs a text and seals it to the server.
    func seal(
        _ text: String, signedBy signer: SigningKeyPair, for stored: StoredEnrollment
    ) async throws(CountersignError) -> [UInt8] {
        let now = await connection.now
        let server = stored.serverCertificate
        // A clock that is behind does not make the server's key one of the future.
        let usable = max(now.unixSeconds, server.primary.publicKey.createdAt)
        do {
            return try await EncryptedMessage.seal(
                .text(text), signedBy: signer, to: try server.key(for: .encrypt, at: usable).publicKey,
                intendedRecipient: server.fingerprint, at: now.unixSeconds)
        } catch OpenPGPError.noUsableKey {
            throw .serverChanged
        } catch let failure as BiometricFailure {
            throw .biometric(failure)
        } catch {
            throw .vault("\(error)")
        }
    }

    private func deliver(
        _ message: [UInt8], to id: ChallengeID, for stored: StoredEnrollment, until end: Timestamp
    ) async throws(CountersignError) -> ChallengeStanding {
        let record = KeptAnswer.record(id)
        let body = AnswerRequest(message: message).json
        var attempt = 1
        while true {
            do throws(CountersignError) {
                let response = try await send("POST", "/v1/challenges/\(id)/answer", body: body, for: stored)
                guard let standing = try? ChallengeStanding(try response.json()) else {
                    throw .serverUnreachable(status: response.status)
                }
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                return standing
            } catch {
                guard error.retryHelps else {
                    // Only the server's word on this answer leaves nothing to repeat; a clock that is off, or a reply
                    // that anybody could have sent, does not.
                    if error.settlesAnswer { try? await vault.remove(record, of: stored.id) }
                    throw error
                }
                guard !Task.isCancelled else { throw .cancelled }
                guard await connection.now < end else { throw error }
                try await pause(attempt)
                attempt += 1
            }
        }
    }
}

extension CountersignError {
    /// Whether the answer it is about will never be taken.
    fileprivate var settlesAnswer: Bool {
        switch self {
        case .challengeNotFound, .challengeExpired, .alreadyAnswered, .challengeEnded, .deviceDeregistered,
            .pinIncorrect, .pinLocked:
            true
        case .server(let problem): problem.knownCode == .answerInvalid
        default: false
        }
    }
}
