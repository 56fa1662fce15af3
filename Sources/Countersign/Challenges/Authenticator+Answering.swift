import Crypto
import CountersignWire
import Encodings
import OpenPGP

/// An answer that was signed and sealed and whose reply has not arrived yet, as a record of the vault.
///
/// The server answers a repeat of the same bytes with the recorded reply; newly made bytes would be a second answer.
private enum KeptAnswer {
    private static let prefix = "answer-"

    static func record(_ challenge: ChallengeID) -> String { prefix + "\(challenge)" }

    /// The challenge that a record answers; nil for another kind of record.
    static func challenge(_ record: String) -> ChallengeID? {
        record.hasPrefix(prefix) ? ChallengeID(record.dropFirst(prefix.count)) : nil
    }

    /// A keyed digest of the decision, which only the vault's key can compute.
    ///
    /// With a digest that needs no key, the number of six digits could be guessed.
    ///
    /// - Parameters:
    ///   - decision: the decision.
    ///   - challenge: the challenge that it decides.
    ///   - point: any point; it makes the key differ for each record.
    ///   - key: the vault's key.
    private static func fingerprint(
        _ decision: Decision, _ challenge: ChallengeID, at point: [UInt8], with key: any AgreementKey
    ) async throws -> [UInt8] {
        let peer = try P256.KeyAgreement.PublicKey(x963Representation: point)
        let secret = try await key.sharedSecret(with: peer).withUnsafeBytes { Array($0) }
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("countersign kept answer v2".utf8),
            outputByteCount: 32)
        return Array(HMAC<SHA256>.authenticationCode(for: text(decision, challenge), using: derived))
    }

    private static func text(_ decision: Decision, _ challenge: ChallengeID) -> [UInt8] {
        var text = "\(challenge) \(decision.name)"
        if case .approved(let method, let number) = decision { text += " \(method.rawValue) \(number?.digits ?? "")" }
        return Array(text.utf8)
    }

    static func encode(
        _ answer: AnswerRequest, _ decision: Decision, _ challenge: ChallengeID, with key: any AgreementKey
    ) async throws -> [UInt8] {
        // The private half is thrown away: only the vault's key can compute the same secret again.
        let point = Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let fingerprint = try await fingerprint(decision, challenge, at: point, with: key)
        return JSONValue.members([
            "v": 2, "decision": .string(Base64.encode(fingerprint)), "point": .string(Base64.encode(point)),
            "message": .string(Base64.encode(answer.message)),
            "custom_data": answer.customData.map { .string(Base64.encode($0)) },
        ]).encoded
    }

    /// The stored answer.
    static func answer(in record: [UInt8]) -> AnswerRequest? {
        guard let json = try? JSONValue(parsing: record), json["v"] == 2 || json["v"] == 1,
            let message = json["message"]?.string.flatMap({ Base64.decode($0) })
        else { return nil }
        return AnswerRequest(message: message, customData: json["custom_data"]?.string.flatMap { Base64.decode($0) })
    }

    /// The stored answer, if it holds the same decision.
    static func answer(
        in record: [UInt8], saying decision: Decision, to challenge: ChallengeID, with key: any AgreementKey
    ) async throws -> AnswerRequest? {
        guard let answer = answer(in: record), let json = try? JSONValue(parsing: record),
            let told = json["decision"]?.string.flatMap({ Base64.decode($0) })
        else { return nil }
        // An earlier version of the app left this record behind.
        guard json["v"] == 2 else {
            return constantTimeEqual(told, Array(SHA256.hash(data: text(decision, challenge)))) ? answer : nil
        }
        guard let point = json["point"]?.string.flatMap({ Base64.decode($0) }) else { return nil }
        return constantTimeEqual(told, try await fingerprint(decision, challenge, at: point, with: key)) ? answer : nil
    }
}

/// The result of an answer that the server has accepted.
struct TakenAnswer: Sendable {
    /// The reply.
    let reply: AnswerReply
    /// The return code of an approval by a link; nil for every other answer.
    let returnCode: Secret<String>?
}

extension Authenticator {
    /// Signs, seals and sends an answer, and sends the same bytes again until there is a reply, the challenge has ended
    /// or the task is cancelled.
    ///
    /// - Parameters:
    ///   - question: the challenge.
    ///   - decision: the user's decision.
    ///   - proof: the key that signs; the primary key for a confirmation and for every denial.
    ///   - stored: the enrollment that answers.
    ///   - end: when the challenge ends.
    ///   - isLink: whether the challenge was opened by a link: then the reply to an approval must bring a return code.
    func answer(
        _ question: Question, _ decision: Decision, by proof: Proof = .confirmation, for stored: StoredEnrollment,
        until end: Timestamp, isLink: Bool
    ) async throws(CountersignError) -> TakenAnswer {
        let id = question.challenge
        let again = try await vaulted { [vault] () -> AnswerRequest? in
            guard let kept = try await vault.record(KeptAnswer.record(id), of: stored.id),
                let key = try await vault.agreementKey(.encryption, of: stored.id)
            else { return nil }
            return try await KeptAnswer.answer(in: kept, saying: decision, to: id, with: key)
        }
        let correction = await connection.correction
        let sealedTo = await encryptionKey(of: stored)
        do {
            if let again { return try await deliver(again, to: id, for: stored, until: end, isLink: isLink) }
            // A new decision replaces an earlier one that was not delivered.
            return try await send(question, decision, proof, for: stored, until: end, isLink: isLink)
        } catch .server(let problem) where problem.knownCode == .answerInvalid {
            // Either the clock was set after the challenge was read, and only the server's reply revealed it; or the
            // key that the answer was sealed to was taken out of use at once. The user's biometrics are then needed
            // once more.
            let isSetRight = await connection.correction != correction
            _ = try? await refreshedServerCertificate(of: stored)
            let isReplaced = await encryptionKey(of: stored) != sealedTo
            guard isSetRight || isReplaced else { throw .server(problem) }
            return try await send(question, decision, proof, for: stored, until: end, isLink: isLink)
        }
    }

    /// The key that answers are sealed to; nil if the issuer has none.
    private func encryptionKey(of stored: StoredEnrollment) async -> Fingerprint? {
        let certificate = await serverCertificate(of: stored)
        return try? certificate.key(for: .encrypt, at: await usableTime(of: certificate)).fingerprint
    }

    /// The current time, but never before the certificate was made: a slow clock must not make the server's key one of
    /// the future.
    private func usableTime(of certificate: Certificate) async -> UnixSeconds {
        max(await connection.now.unixSeconds, certificate.primary.publicKey.createdAt)
    }

    /// Makes an answer, stores it, and sends it.
    private func send(
        _ question: Question, _ decision: Decision, _ proof: Proof, for stored: StoredEnrollment, until end: Timestamp,
        isLink: Bool
    ) async throws(CountersignError) -> TakenAnswer {
        let id = question.challenge
        let answer = try await seal(question, decision, proof, for: stored)
        guard let key = try await vaulted({ [vault] in try await vault.agreementKey(.encryption, of: stored.id) })
        else { throw .notEnrolled }
        try await vaulted { [vault] in
            try await vault.write(
                try await KeptAnswer.encode(answer, decision, id, with: key), as: KeptAnswer.record(id), of: stored.id)
        }
        return try await deliver(answer, to: id, for: stored, until: end, isLink: isLink)
    }

    /// Sends the answers whose replies were lost in the last run of the app.
    func resumeAnswers(for stored: StoredEnrollment) async throws(CountersignError) {
        let records = try await vaulted { [vault] in try await vault.records(of: stored.id) }
        for record in records {
            guard let id = KeptAnswer.challenge(record) else { continue }
            let kept = try await vaulted { [vault] in try await vault.record(record, of: stored.id) }
            guard let answer = kept.flatMap({ KeptAnswer.answer(in: $0) }) else {
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                continue
            }
            do throws(CountersignError) {
                _ = try await deliver(answer, to: id, for: stored, until: await connection.now, isLink: false)
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

    /// Signs the data that a custom authenticator judges, and seals them to the server.
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
        let server = await serverCertificate(of: stored)
        let usable = await usableTime(of: server)
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
        _ answer: AnswerRequest, to id: ChallengeID, for stored: StoredEnrollment, until end: Timestamp, isLink: Bool
    ) async throws(CountersignError) -> TakenAnswer {
        let record = KeptAnswer.record(id)
        let body = answer.json
        var attempt = 1
        while true {
            do throws(CountersignError) {
                let response = try await send("POST", "/v1/challenges/\(id)/answer", body: body, for: stored)
                guard let reply = try? AnswerReply(try response.json()) else {
                    throw .serverUnreachable(status: response.status)
                }
                var code: Secret<String>?
                if isLink, reply.status.state == "approved" {
                    code = try await returnCode(in: reply, to: id, for: stored)
                    // An approval by a link is useless without its return code: this reply is not the server's.
                    guard code != nil else { throw .serverUnreachable(status: response.status) }
                }
                try await vaulted { [vault] in try await vault.remove(record, of: stored.id) }
                return TakenAnswer(reply: reply, returnCode: code)
            } catch {
                guard error.isSentAgain else {
                    // The record is removed only if the server itself has decided about this answer. A clock that is
                    // off, or a reply that anybody could have sent, leaves the answer to be repeated.
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

extension Authenticator {
    /// The return code in the reply to an approval by a link; nil unless the server has signed it for this device and
    /// challenge.
    private func returnCode(
        in reply: AnswerReply, to id: ChallengeID, for stored: StoredEnrollment
    ) async throws(CountersignError) -> Secret<String>? {
        guard let sealed = reply.returnMessage else { return nil }
        let json: JSONValue
        do throws(CountersignError) {
            json = try await opened(sealed, for: stored)
        } catch .notHandleable, .serverChanged {
            return nil
        }
        guard let message = try? ReturnMessage(json), message.isFor(stored.issuer, id, by: stored.id) else {
            return nil
        }
        return message.code
    }
}

extension CountersignError {
    /// Whether the server will never accept the answer after this error.
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
