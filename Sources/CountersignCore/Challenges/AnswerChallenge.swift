import Crypto
public import CountersignWire
import Encodings
import OpenPGP

/// Takes a device's answer.
///
/// Step 1 was done when the call was verified. Spec: design 3.8.
public enum AnswerChallenge {
    /// How far `answered` may lie outside the time from first fetch to now, in seconds.
    static let tolerance: Int64 = 60

    /// What came of it.
    public enum Outcome: Sendable {
        /// The challenge has ended with this answer, or did when the same answer came before.
        case decided(AnswerReply)
        /// The device is not let in.
        case refused(DeviceRefusal)
        /// The device was put no such challenge.
        case notFound
        /// It had ended, by something else than this answer.
        case alreadyEnded(ChallengeStatus)
        /// The answer is refused: to the device one outcome for every cause.
        case invalid(AnswerFault)
        /// The PIN is wrong; the challenge can be answered again unless that was the last attempt.
        case pinIncorrect(attemptsLeft: Int)
        /// A wrong PIN was typed too often before.
        case pinLocked
        /// The custom authenticator wants another try; the challenge waits on.
        case customRetry(CustomReply)
        /// The custom authenticator refused, and is registered no more; its payload.
        case customFailed(payload: String?)
        /// The custom authenticator is not registered.
        case customNotRegistered
        /// The custom authenticator cannot be asked now; nothing was counted.
        case customUnavailable
        /// Too many refused answers.
        case rateLimited(retryAfter: Int64)
    }

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - request: the sealed receipt, with the sealed data for a custom authenticator.
    ///   - id: the challenge it answers.
    ///   - call: the device's call.
    ///   - ports: the world.
    public static func answer(
        _ request: AnswerRequest, to id: ChallengeID, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        // What is sealed differs each time: the receipt's bytes tell all of an answer apart, for it names the data.
        let digest = Array(SHA256.hash(data: request.message))
        let facts = try await ports.store.read { try Facts(id, by: call.enrollment.id, digest: digest, from: $0) }
        let outcome = try await take(request, to: id, facts, digest: digest, by: call, at: now, ports: ports)
        guard case .decided(var reply) = outcome, reply.status.state == "approved",
            facts.challenge?.channel.returnURI != nil
        else { return outcome }
        let message = ReturnMessage(
            issuer: ports.issuer, challenge: id, enrollment: call.enrollment.id, code: ports.hasher.returnCode(of: id))
        reply.returnMessage = try await ports.seal(message.json, to: call.enrollment, at: now)
        return .decided(reply)
    }

    private static func take(
        _ request: AnswerRequest, to id: ChallengeID, _ facts: Facts, digest: [UInt8], by call: DeviceCall,
        at now: Timestamp, ports: Ports
    ) async throws -> Outcome {
        let verdict = try await judge(request, facts, by: call.enrollment, at: now, ports: ports)
        if case .custom(let asked) = verdict {
            return try await answer(by: asked, digest: digest, call, at: now, ports: ports)
        }
        return try await ports.commit(at: now) { work in
            // A device may be let in by it, or be removed.
            if facts.challenge?.purpose.changesDevices == true || verdict.isWrongPIN {
                try work.users.lock(call.enrollment.user)
            }
            if verdict.countsPINs(of: call.enrollment) { try work.enrollments.lock(call.enrollment.id) }
            let refusal = try work.admit(call)
            // A wrong PIN that was looked at counts, also where the request is not let in.
            if let refusal {
                guard case .wrongPIN = verdict else { return .refused(refusal) }
            }
            let outcome = try settle(verdict, id, digest: digest, by: call.enrollment, in: work)
            return refusal.map(Outcome.refused) ?? outcome
        }
    }

    /// What is known before the answer is opened.
    struct Facts: Sendable {
        let challenge: Challenge?
        let target: ChallengeTarget?
        let certificate: [UInt8]?
        let recorded: RecordedAnswer?

        init(_ id: ChallengeID, by enrollment: EnrollmentID, digest: [UInt8], from reader: any Stores) throws {
            recorded = try reader.answers.find(by: enrollment, digest: digest)
            target = try reader.targets.find(of: id, enrollment: enrollment)
            challenge = try reader.challenges.find(id)
            certificate = try reader.methods.certificate(of: enrollment)
        }
    }

    /// What an answer amounts to, before the transaction that makes it count.
    enum Verdict: Sendable {
        case repeated(RecordedAnswer)
        case notFound
        case ended(Challenge)
        case invalid(AnswerFault)
        case pinLocked
        case wrongPIN(EnrolledPIN, Challenge)
        case wrongNumber(Challenge)
        case answered(Challenge, VerifiedAnswer)
        case custom(AskedAuthenticator)

        fileprivate var isWrongPIN: Bool {
            if case .wrongPIN = self { true } else { false }
        }

        /// Whether the count of wrong PINs will change by it.
        func countsPINs(of enrollment: Enrollment) -> Bool {
            switch self {
            case .wrongPIN: true
            case .answered: (enrollment.pin?.wrongCount ?? 0) > 0
            case .repeated, .notFound, .ended, .invalid, .pinLocked, .wrongNumber, .custom: false
            }
        }
    }

    /// Steps 2 to 7.
    private static func judge(
        _ request: AnswerRequest, _ facts: Facts, by enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws -> Verdict {
        // 2: put to this enrollment. A repeat of an answer already decided comes first: its challenge has ended by it.
        guard let target = facts.target, let challenge = facts.challenge, let certificate = facts.certificate,
            challenge.user == enrollment.user
        else { return .notFound }
        if let recorded = facts.recorded {
            return recorded.challenge == challenge.id ? .repeated(recorded) : .invalid(.otherChallenge)
        }
        // 3: pending and unexpired.
        guard challenge.isOpen(at: now) else { return .ended(challenge) }
        // 4: decrypts, exactly one signature, of the form that receipts have.
        let keys = try ports.keys.current()
        let opened: UnverifiedMessage
        do {
            opened = try await keys.openWithoutVerifying(request.message, intendedRecipient: nil)
        } catch {
            return .invalid(.message(error as? OpenPGPError ?? .decryptionFailed))
        }
        do throws(AnswerSignatureRefusal) {
            try AnswerSignature.check(
                opened.signature, for: keys.certificate.fingerprint, asked: challenge.question.askedAt, now: now)
        } catch {
            return .invalid(.form(error))
        }
        // 5: the text, byte for byte.
        guard let text = String(strictUTF8: opened.content),
            let receipt = try? Receipt(parsing: text),
            isExpected(text, receipt, challenge, enrollment)
        else { return .invalid(.text) }
        guard let fetchedAt = target.fetchedAt,
            receipt.answeredAt.adding(seconds: tolerance) >= fetchedAt.wholeSeconds,
            receipt.answeredAt <= now.adding(seconds: tolerance)
        else { return .invalid(.time) }
        // 6: an active key of this enrollment that proves the method, and a receipt that proves it to others.
        let answer: VerifiedAnswer
        switch judge(opened, receipt, text, challenge, enrollment, certificate, at: now) {
        case .success(let verified): answer = verified
        case .failure(let refused): return refused.verdict
        }
        // 7: the number.
        if case .approved(_, let number?) = receipt.decision, let hash = challenge.numberHash,
            !ports.hasher.matches(hash, number: number, challenge: challenge.id)
        {
            return .wrongNumber(challenge)
        }
        guard case .approved(.custom(let name), _) = receipt.decision else { return .answered(challenge, answer) }
        // What custom authenticators judge is opened last: to know it is of no use to who cannot answer.
        guard let sealed = request.customData, Array(SHA256.hash(data: sealed)) == receipt.customDataHash,
            let data = try await CustomData(sealed, from: enrollment, at: now, ports: ports)
        else { return .invalid(.customData) }
        return .custom(AskedAuthenticator(name: name, data: data, challenge: challenge, answer: answer))
    }

    /// A verdict that is not an answer.
    private struct Refused: Error {
        let verdict: Verdict

        init(_ verdict: Verdict) { self.verdict = verdict }
    }

    /// Step 6: the answer by the one who may decide so, or why it is not.
    ///
    /// Only the key that must have signed is looked at, and the PIN's only where a wrong one will count: whatever tells
    /// it from others, by the reply or by the time it takes, would let PINs be tried for nothing.
    private static func judge(
        _ message: UnverifiedMessage, _ receipt: Receipt, _ text: String, _ challenge: Challenge,
        _ enrollment: Enrollment, _ stored: [UInt8], at now: Timestamp
    ) -> Result<VerifiedAnswer, Refused> {
        // Saying no never needs a PIN.
        var key = enrollment.keys.primary
        var countedPIN: EnrolledPIN?
        if case .approved(let method, let number) = receipt.decision {
            guard challenge.methods.contains(method), (number == nil) == (challenge.numberHash == nil),
                enrollment.isLetIn(at: now), !enrollment.waits(method, at: now),
                let proving = enrollment.key(of: method)
            else { return .failure(Refused(.invalid(.method))) }
            key = proving
            if method == .pin, let pin = enrollment.pin {
                // Whether it is the right one is not told any more.
                guard pin.lockedAt == nil else { return .failure(Refused(.pinLocked)) }
                countedPIN = pin
            }
        }
        let latest = now.adding(seconds: tolerance).unixSeconds
        guard let certificate = try? Certificate(previouslyVerified: stored),
            AnswerSignature.couldSign(key.fingerprint, of: certificate, at: message.signature.createdAt)
        else { return .failure(Refused(.invalid(.time))) }
        do throws(OpenPGPError) {
            _ = try message.verified(signers: [key], now: latest)
        } catch {
            if error == .unknownSigner, let countedPIN { return .failure(Refused(.wrongPIN(countedPIN, challenge))) }
            return .failure(Refused(.invalid(.signer)))
        }
        guard let answer = proved(receipt, text, message.signature, by: key, certificate, now: latest) else {
            return .failure(Refused(.invalid(.receipt)))
        }
        return .success(answer)
    }

    /// The answer, if exactly what will be served of it is a good receipt to who verifies it offline.
    ///
    /// Spec: design 3.4: only what verifies becomes a receipt.
    private static func proved(
        _ receipt: Receipt, _ text: String, _ signature: Signature, by key: CertifiedKey, _ certificate: Certificate,
        now: UnixSeconds
    ) -> VerifiedAnswer? {
        guard let kept = try? signature.canonical(by: key.fingerprint),
            let message = try? CleartextMessage(text: text, signature: kept),
            let served = try? VerifiedReceipt(message: message.encoded, certificate: certificate, now: now),
            served.signer.fingerprint == key.fingerprint
        else { return nil }
        let evidence = Evidence.receipt(message, certificate: certificate.encoded)
        return VerifiedAnswer(decision: receipt.decision, answeredAt: receipt.answeredAt, evidence: evidence)
    }

    /// Renders what the challenge must have shown; only decision, method, number and time are the device's to choose.
    private static func isExpected(
        _ text: String, _ receipt: Receipt, _ challenge: Challenge, _ enrollment: Enrollment
    ) -> Bool {
        let expected = Receipt(
            of: challenge.question, user: enrollment.user, device: enrollment.keys.primary.fingerprint,
            decision: receipt.decision, customDataHash: receipt.customDataHash, answeredAt: receipt.answeredAt)
        return expected.text.hasSameBytes(as: text)
    }

    /// Counts a wrong PIN, unless the same answer came before.
    private static func count(
        _ pin: EnrolledPIN, _ challenge: Challenge, digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
            return try outcome(recorded, by: enrollment, in: work)
        }
        switch try work.noteWrongPIN(besides: pin.key, of: enrollment) {
        case .counted(let attemptsLeft):
            if let failed = try fail(challenge, digest: digest, by: enrollment, in: work) {
                return failed
            }
            try work.answers.insert(
                RecordedAnswer(challenge: challenge.id, status: .pinIncorrect), by: enrollment.id, digest: digest,
                at: work.now)
            let triesLeft = try work.triesLeft(of: challenge)
            return .pinIncorrect(attemptsLeft: min(attemptsLeft, triesLeft))
        case .locked: return .pinLocked
        case .changed:
            return try refuse(challenge.id, because: .replaced, digest: digest, by: enrollment, in: work)
        }
    }

    /// Counts a wrong answer to a challenge whose type limits them.
    ///
    /// - Returns: that it has failed by too many; nil where it waits on, or has ended before.
    static func fail(
        _ challenge: Challenge, digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome? {
        guard let attempts = challenge.attempts,
            try work.count(.wrongAnswers(challenge.id, maximum: attempts)).isUsedUp,
            try work.challenges.find(challenge.id)?.isOpen(at: work.now) == true
        else { return nil }
        return try decide(
            challenge, .failed(.tooManyAttempts), evidence: nil, digest: digest, by: enrollment, in: work
        )
    }

    /// Step 9: one transaction that repeats the conditions.
    private static func settle(
        _ verdict: Verdict, _ id: ChallengeID, digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        switch verdict {
        case .repeated(let recorded): return try outcome(recorded, by: enrollment, in: work)
        case .notFound: return .notFound
        case .ended(let challenge): return try alreadyEnded(challenge, in: work)
        case .invalid(let fault):
            return try refuse(id, because: fault, digest: digest, by: enrollment, in: work)
        case .pinLocked: return .pinLocked
        case .wrongPIN(let pin, let challenge):
            return try count(pin, challenge, digest: digest, by: enrollment, in: work)
        case .wrongNumber(let challenge):
            return try decide(
                challenge, .failed(.wrongNumber), evidence: nil, digest: digest, by: enrollment, in: work
            )
        case .custom: preconditionFailure("a custom authenticator is asked before")
        case .answered(let challenge, let answer):
            let outcome: ChallengeOutcome
            switch answer.decision {
            case .approved(let method, _):
                if let refusal = try confirm(method, of: enrollment, in: work) { return refusal }
                switch challenge.purpose {
                case .relyingParty: break
                case .newDevice:
                    if method == .confirm, try work.trustState(of: enrollment.user).isGuarded() {
                        return try refuse(id, because: .method, digest: digest, by: enrollment, in: work)
                    }
                }
                outcome = .approved(method, by: enrollment.id)
            case .denied: outcome = .denied(by: enrollment.id)
            case .reported: outcome = .reported(by: enrollment.id)
            }
            return try decide(
                challenge, outcome, evidence: answer.evidence, digest: digest, by: enrollment, in: work)
        }
    }

    /// What a message got that comes again.
    static func outcome(
        _ recorded: RecordedAnswer, by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        if recorded.status.state != "pending" {
            return .decided(AnswerReply(status: recorded.status, payload: recorded.custom?.payload))
        }
        if let custom = recorded.custom {
            return custom.attemptsLeft > 0 ? .customRetry(custom) : .customFailed(payload: custom.payload)
        }
        let current = try work.enrollments.find(enrollment.id) ?? enrollment
        let attemptsLeft = try work.stores.attemptsLeft(of: current)
        let challenge = try work.challenges.find(recorded.challenge)
        return .pinIncorrect(
            attemptsLeft: try challenge.map { min(attemptsLeft, try work.triesLeft(of: $0)) }
                ?? attemptsLeft
        )
    }

    /// Looks whether the key that signed is still the one there is; a right PIN forgets the wrong ones before it.
    private static func confirm(
        _ method: AnswerMethod, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome? {
        guard method != .confirm else { return nil }
        let current = try work.enrollments.find(enrollment.id)
        guard current?.key(of: method)?.fingerprint == enrollment.key(of: method)?.fingerprint,
            current?.waits(method, at: work.now) == false
        else { return .invalid(.replaced) }
        guard method == .pin, let pin = current?.pin else { return nil }
        guard pin.lockedAt == nil else { return .pinLocked }
        if pin.wrongCount > 0 { try work.methods.forgetWrongPINs(of: enrollment.id) }
        return nil
    }

    static func decide(
        _ challenge: Challenge, _ outcome: ChallengeOutcome, evidence: Evidence?, custom: CustomReply? = nil,
        digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        let isFirst =
            if case .approved(let method, _) = outcome, challenge.channel.returnURI != nil {
                try work.holdForReturn(challenge, approvedBy: method, on: enrollment)
            } else if case .ended = try work.endChallenge(challenge, as: outcome) {
                true
            } else {
                false
            }
        guard isFirst else {
            // Somebody was faster: another device, a cancellation, or this very answer sent twice at once.
            if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
                return try self.outcome(recorded, by: enrollment, in: work)
            }
            return try alreadyEnded(challenge, in: work)
        }
        if case .reported = outcome {
            try work.askingLocks.put(
                AskingLock(
                    user: enrollment.user, client: challenge.question.client, challenge: challenge.id, since: work.now))
        }
        if let evidence {
            try work.receipts.insert(
                StoredReceipt(
                    challenge: challenge.id, client: challenge.question.client, enrollment: enrollment.id,
                    evidence: evidence, acceptedAt: work.now))
        }
        let recorded = RecordedAnswer(challenge: challenge.id, status: outcome.status, custom: custom)
        try work.answers.insert(recorded, by: enrollment.id, digest: digest, at: work.now)
        return .decided(AnswerReply(status: outcome.status, payload: custom?.payload))
    }

    /// What a device is told whose answer comes after the end; another may have ended it since it was read.
    private static func alreadyEnded(_ challenge: Challenge, in work: UnitOfWork) throws -> Outcome {
        let current = try work.challenges.find(challenge.id) ?? challenge
        return .alreadyEnded(try work.endedStatusForDevice(of: current) ?? current.state.status)
    }

    /// Notes a refused answer by its digest; the message itself is neither kept nor logged.
    private static func refuse(
        _ id: ChallengeID, because fault: AnswerFault, digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        if let seconds = try work.countRefused(.answer, of: enrollment.id) {
            return .rateLimited(retryAfter: seconds)
        }
        try work.raise(.answerRefused(id, fault, digest: digest, by: enrollment))
        return .invalid(fault)
    }
}

extension ChallengeStatus {
    /// What is kept of an answer whose PIN was wrong: the challenge waits on.
    fileprivate static let pinIncorrect = ChallengeStatus(state: "pending", reason: "pin_incorrect")
}

extension UnitOfWork {
    /// How many wrong answers a challenge takes yet; no end of them where its type sets no limit.
    func triesLeft(of challenge: Challenge) throws -> Int {
        guard let attempts = challenge.attempts else { return .max }
        // One that waits takes one more.
        return max(1, try counted(.wrongAnswers(challenge.id, maximum: attempts)).left)
    }
}
