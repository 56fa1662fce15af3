import Crypto
import CountersignWire
import Encodings
import OpenPGP

/// An answer that was signed and sealed and whose reply has not come yet, as a record of the vault.
///
/// The same bytes sent again get the recorded reply; bytes made anew would be a second answer.
private enum KeptAnswer {
    private static let prefix = "answer-"

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

    static func encode(_ answer: AnswerRequest, _ decision: Decision, _ challenge: ChallengeID) -> [UInt8] {
        JSONValue.members([
            "v": 1, "decision": .string(fingerprint(decision, challenge)),
            "message": .string(Base64.encode(answer.message)),
            "custom_data": answer.customData.map { .string(Base64.encode($0)) },
        ]).encoded
    }

    /// The kept answer, if it says the same.
    static func answer(in record: [UInt8], decision: Decision?, _ challenge: ChallengeID) -> AnswerRequest? {
        guard let json = try? JSONValue(parsing: record), json["v"] == 1 else { return nil }
        if let decision, json["decision"] != .string(fingerprint(decision, challenge)) { return nil }
        guard let message = json["message"]?.string.flatMap({ Base64.decode($0) }) else { return nil }
        return AnswerRequest(message: message, customData: json["custom_data"]?.string.flatMap { Base64.decode($0) })
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
    ) async throws(CountersignError) -> AnswerReply {
        let id = question.challenge
        let kept = try await vaulted { [vault] in try await vault.record(KeptAnswer.record(id), of: stored.id) }
        if let again = kept.flatMap({ KeptAnswer.answer(in: $0, decision: decision, id) }) {
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
    ) async throws(CountersignError) -> AnswerReply {
        let id = question.challenge
        let answer = try await seal(question, decision, proof, for: stored)
        try await vaulted { [vault] in
            try await vault.write(
                KeptAnswer.encode(answer, decision, id), as: KeptAnswer.record(id), of: stored.id)
        }
        return try await deliver(answer, to: id, for: stored, until: end)
    }

    /// Sends answers whose reply was lost with the last run of the app.
    func resumeAnswers(for stored: StoredEnrollment) async throws(CountersignError) {
        let records = try await vaulted { [vault] in try await vault.records(of: stored.id) }
        for record in records {
            guard let id = KeptAnswer.challenge(record) else { continue }
            let kept = try await vaulted { [vault] in try await vault.record(record, of: stored.id) }
            guard let answer = kept.flatMap({ KeptAnswer.answer(in: $0, decision: nil, id) }) else {
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                continue
            }
            do throws(CountersignError) {
                _ = try await deliver(answer, to: id, for: stored, until: await connection.now)
            } catch {
                guard !error.isSentAgain else { throw error }
            }
        }
    }

    private func seal(
        _ question: Question, _ decision: Decision, _ proof: Proof, for stored: StoredEnrollment
    ) async throws(CountersignError) -> AnswerRequest {
        let signer: SigningKeyPair
        var customData: [UInt8]?
        switch proof {
        case .confirmation: signer = try await primaryKey(of: stored)
        case .pin(let pin): signer = try await signingKey(of: pin, for: stored)
        case .biometric(let prompt): signer = try await biometricKey(prompt, of: stored)
        case .custom(_, let data):
            signer = try await primaryKey(of: stored)
            customData = try await seal(custom: data, signedBy: signer, for: stored)
        }
        let receipt = Receipt(
            of: question, user: stored.user, device: stored.certificate.fingerprint, decision: decision,
            customDataHash: customData.map { Array(SHA256.hash(data: $0)) }, answeredAt: await connection.now)
        return AnswerRequest(
            message: try await seal(receipt.text, signedBy: signer, for: stored), customData: customData)
    }

    private func primaryKey(of stored: StoredEnrollment) async throws(CountersignError) -> SigningKeyPair {
        guard let key = try await vaulted({ [vault] in try await vault.signingKey(.primary, of: stored.id) }) else {
            throw .notEnrolled
        }
        return SigningKeyPair(key, createdAt: stored.createdAt)
    }

    /// Signs what a custom authenticator is to judge, and seals it to the server.
    func seal(
        custom data: String, signedBy signer: SigningKeyPair, for stored: StoredEnrollment
    ) async throws(CountersignError) -> [UInt8] {
        guard let data = CustomData(data) else {
            throw .configurationInvalid("a custom authenticator takes at most \(CustomData.maximumLength) bytes")
        }
        return try await seal(data.text, signedBy: signer, for: stored)
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
        _ answer: AnswerRequest, to id: ChallengeID, for stored: StoredEnrollment, until end: Timestamp
    ) async throws(CountersignError) -> AnswerReply {
        let record = KeptAnswer.record(id)
        let body = answer.json
        var attempt = 1
        while true {
            do throws(CountersignError) {
                let response = try await send("POST", "/v1/challenges/\(id)/answer", body: body, for: stored)
                guard let reply = try? AnswerReply(try response.json()) else {
                    throw .serverUnreachable(status: response.status)
                }
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                return reply
            } catch {
                guard error.isSentAgain else {
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
            .pinIncorrect, .pinLocked, .customRetry, .customFailed, .customNotRegistered, .customUnavailable:
            true
        case .server(let problem): problem.knownCode == .answerInvalid
        default: false
        }
    }
}
