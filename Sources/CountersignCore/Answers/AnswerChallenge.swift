package import CountersignWire
import Encodings

/// Accepts a device's answer to a challenge.
///
/// An answer passes nine checks, in this order:
///
/// - Check 1: the HTTP signature is by an active enrollment. `VerifyDevice.swift` makes this check before the
///   operation.
/// - Check 2: the challenge was put to this enrollment. Check 3: the challenge is pending and has not expired. Both
///   are in this file.
/// - Check 4: the answer can be decrypted and has one signature of the permitted form. Check 5: the text is the
///   expected one. Check 6: the key that proves the method has signed. Check 7: the number is right. All four are in
///   `ReceiptVerifier.swift`.
/// - Check 8: the custom authenticator accepts the answer. This check is in `CustomAnswer.swift`.
/// - Check 9: one transaction repeats the conditions and stores the result. This check is in `SettleAnswer.swift`.
///
/// Spec: docs/protocol/challenges.md, *Checks*.
package enum AnswerChallenge {
    /// How far the answer's time may lie before the time when the challenge was asked, or after the current time.
    static let tolerance = Seconds.minutes(1)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The answer has decided the challenge, now or when the same answer came before. An approval by a link may
        /// still wait for its return code.
        case decided(AnswerReply)
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// No such challenge was put to the device.
        case notFound
        /// The challenge had ended before, and not by this answer.
        case alreadyEnded(ChallengeStatus)
        /// The answer is refused; the device gets the same error for every fault.
        case invalid(AnswerFault)
        /// The PIN is wrong; unless this was the last attempt, the challenge can be answered again.
        case pinIncorrect(attemptsLeft: Int)
        /// The PIN is locked, because too many wrong PINs came before.
        case pinLocked
        /// The custom authenticator asks for another try; the challenge stays pending.
        case customRetry(CustomReply)
        /// The custom authenticator refused and is no longer registered for the device; `payload` is the hook's reply
        /// to the app.
        case customFailed(payload: String?)
        /// The custom authenticator is not registered for the device.
        case customNotRegistered
        /// The custom authenticator's hook gave no valid reply; this does not count as a try.
        case customUnavailable
        /// There were too many refused answers, or as many custom tries as are allowed are in progress.
        case rateLimited(retryAfter: Seconds)
    }

    /// Checks an answer and stores the result.
    ///
    /// - Parameters:
    ///   - request: the sealed receipt and, for a custom authenticator, the sealed data.
    ///   - id: the challenge.
    ///   - call: the authenticated call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of sealing the return message.
    package static func answer(
        _ request: AnswerRequest, to id: ChallengeID, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        // Sealing the same text again gives other bytes, so only a repeat has the same bytes. The digest need not
        // cover the custom data, because the receipt names their hash.
        let digest = MessageDigest(of: request.message)
        let facts = try await ports.store.read { reader in
            try Facts(id, by: call, digest: digest, issuer: ports.issuer, from: reader)
        }
        let enrollment: Enrollment
        switch facts.caller {
        case .success(let caller): enrollment = caller
        case .failure(let refusal): return .refused(refusal)
        }
        let finding = try await judge(request, facts, by: enrollment, at: now, ports: ports)
        let outcome: Outcome
        if case .custom(let answer) = finding {
            outcome = try await answer.settled(digest: digest, call, by: enrollment, at: now, ports: ports)
        } else {
            outcome = try await ports.commit(at: now, as: call.actor) { work in
                try SettleAnswer(id: id, digest: digest, enrollment: enrollment, work: work)
                    .settle(finding, of: call)
            }
        }
        guard case .decided(var reply) = outcome, reply.status.state == "approved",
            facts.answering?.challenge.channel.returnURI != nil, let keys = enrollment.keys
        else { return outcome }
        let message = ReturnMessage(
            issuer: ports.issuer, challenge: id, enrollment: enrollment.id, code: ports.hasher.returnCode(of: id))
        reply.returnMessage = try await ports.seal(message.json.encoded, to: keys, at: now)
        return .decided(reply)
    }

    /// The rows that are read before the answer is opened.
    struct Facts: Sendable {
        let caller: Result<Enrollment, DeviceRefusal>
        let certificate: [UInt8]?
        let answering: AnsweringFacts?

        init(
            _ id: ChallengeID, by call: DeviceCall, digest: MessageDigest, issuer: Issuer, from reader: any Stores
        ) throws {
            let found = try reader.answers.answeringDevice(id, by: call.enrollment, digest: digest)
            caller = DeviceCall.caller(found?.enrollment, issuer: issuer)
            certificate = found?.certificate
            answering = found?.answering
        }
    }

    /// The result of the checks before the transaction that stores it.
    enum Finding: Sendable {
        case notFound
        case repeated(RecordedAnswer)
        case ended(Challenge)
        case judged(Challenge, AnswerVerdict)
        case custom(CustomAnswer)
    }

    /// Makes checks 2 to 7, and opens the data that check 8 needs.
    private static func judge(
        _ request: AnswerRequest, _ facts: Facts, by enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws -> Finding {
        // 2: put to this enrollment. The repeat of a recorded answer comes before check 3, because that answer may
        // have ended the challenge.
        guard let answering = facts.answering, answering.isTarget, let certificate = facts.certificate,
            answering.challenge.user == enrollment.user
        else { return .notFound }
        let challenge = answering.challenge
        if let recorded = answering.recorded {
            return recorded.challenge == challenge.id
                ? .repeated(recorded) : .judged(challenge, .invalid(.otherChallenge))
        }
        // 3: pending and not expired.
        guard challenge.isOpen(at: now) else { return .ended(challenge) }
        let verdict: AnswerVerdict
        switch enrollment.credential {
        case .openPGP:
            let verifier = ReceiptVerifier(
                challenge: challenge, enrollment: enrollment, certificate: certificate,
                keys: try ports.keys.current(), hasher: ports.hasher, now: now)
            verdict = await verifier.verify(request.message)
        case .jwk: verdict = .invalid(.credential)
        }
        guard case .verified(let answer) = verdict, case .approved(.custom(let name), _) = answer.decision else {
            return .judged(challenge, verdict)
        }
        let custom = try await CustomAnswer(
            answer, to: challenge, by: name, request.customData, from: enrollment, at: now, ports: ports)
        return custom.map(Finding.custom) ?? .judged(challenge, .invalid(.customData))
    }
}
