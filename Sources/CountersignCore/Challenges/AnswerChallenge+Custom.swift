import Crypto
import CountersignWire
import Encodings
import OpenPGP

/// What a custom authenticator made of an answer, as the device is told it.
public struct CustomReply: Hashable, Sendable {
    /// How often it may be tried again.
    public let attemptsLeft: Int
    /// What the client's hook says to the app; nil for nothing.
    public let payload: String?

    /// A reply of these parts.
    public init(attemptsLeft: Int, payload: String?) {
        self.attemptsLeft = attemptsLeft
        self.payload = payload
    }
}

extension AnswerChallenge {
    /// An answer of which all is good but what a custom authenticator has to judge.
    struct AskedAuthenticator: Sendable {
        let name: AuthenticatorName
        let data: CustomData
        let challenge: Challenge
        let answer: VerifiedAnswer
    }

    private enum Beginning: Sendable {
        case ended(Outcome)
        case asking(HookQuestion)
    }

    /// Steps 8 and 9: one transaction that lets the device in and counts the try, the hook's verdict outside of any, and
    /// one that makes it count.
    ///
    /// A try counts before the hook is asked, so that many at once are no more than the limit.
    static func answer(
        by asked: AskedAuthenticator, digest: [UInt8], _ call: DeviceCall, at now: Timestamp, ports: Ports
    ) async throws -> Outcome {
        let beginning = try await ports.commit(at: now) { work in
            try work.enrollments.lock(call.enrollment.id)
            if let refusal = try work.admit(call) { return Beginning.ended(.refused(refusal)) }
            return try begin(asked, digest: digest, by: call.enrollment, in: work)
        }
        switch beginning {
        case .ended(let outcome): return outcome
        case .asking(let question):
            let verdict = await ports.hooks.ask(question)
            // It may have taken seconds.
            let now = ports.time.now
            return try await ports.commit(at: now) { work in
                try work.enrollments.lock(call.enrollment.id)
                if let refusal = try work.stores.refusal(of: call.enrollment.id, issuer: work.issuer) {
                    return .refused(refusal)
                }
                return try conclude(
                    verdict, asked, limit: question.authenticator.attempts, digest: digest, by: call.enrollment,
                    in: work)
            }
        }
    }

    private static func begin(
        _ asked: AskedAuthenticator, digest: [UInt8], by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Beginning {
        if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
            return .ended(try outcome(recorded, by: enrollment, in: work))
        }
        guard let current = try work.enrollments.find(enrollment.id), let tried = current.customs[asked.name]?.tried
        else {
            return .ended(.customNotRegistered)
        }
        let question = try work.hookQuestion(
            .verify(asked.challenge.id, type: asked.challenge.question.type), asked.name, asked.data, of: current,
            id: "\(asked.challenge.id).\(Hex.encode(digest.prefix(16)))")
        guard let question else {
            // The client has given it up.
            try work.drop(asked, of: current)
            return .ended(.customNotRegistered)
        }
        guard tried < question.authenticator.attempts else {
            // As many as there may be are under way.
            return .ended(.rateLimited(retryAfter: question.authenticator.deadline))
        }
        try work.recordTries(tried + 1, asked.name, of: current)
        return .asking(question)
    }

    private static func conclude(
        _ verdict: HookVerdict?, _ asked: AskedAuthenticator, limit: Int, digest: [UInt8], by enrollment: Enrollment,
        in work: UnitOfWork
    ) throws -> Outcome {
        if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
            // The same answer was sent twice at once.
            return try outcome(recorded, by: enrollment, in: work)
        }
        guard let current = try work.enrollments.find(enrollment.id), let tried = current.customs[asked.name]?.tried
        else {
            return .customNotRegistered
        }
        func count(_ tried: Int) throws {
            try work.recordTries(tried, asked.name, of: current)
        }
        func record(_ reply: CustomReply) throws {
            try work.answers.insert(
                RecordedAnswer(challenge: asked.challenge.id, status: .customRefused, custom: reply),
                by: enrollment.id, digest: digest, at: work.now)
        }
        func raise(_ verdict: HookVerdict.Result?, attemptsLeft: Int? = nil) throws {
            let result = CustomResult(verdict: verdict, attemptsLeft: attemptsLeft)
            try work.raise(.customAnswered(asked.name, result, to: asked.challenge.id, by: enrollment))
        }
        guard let verdict else {
            try count(max(0, tried - 1))
            if let seconds = try work.countRefused(.custom, of: enrollment.id) {
                return .rateLimited(retryAfter: seconds)
            }
            try raise(nil)
            return .customUnavailable
        }
        switch verdict.result {
        case .ok:
            try count(0)
            let outcome = try decide(
                asked.challenge, .approved(.custom(asked.name), by: enrollment.id), evidence: asked.answer.evidence,
                custom: CustomReply(attemptsLeft: limit, payload: verdict.payload), digest: digest, by: enrollment,
                in: work)
            if case .decided = outcome { try raise(verdict.result) }
            return outcome
        case .retry where tried < limit:
            try raise(verdict.result, attemptsLeft: limit - tried)
            if let failed = try fail(asked.challenge, digest: digest, by: enrollment, in: work) {
                return failed
            }
            let triesLeft = try work.triesLeft(of: asked.challenge)
            let reply = CustomReply(attemptsLeft: min(limit - tried, triesLeft), payload: verdict.payload)
            try record(reply)
            return .customRetry(reply)
        case .retry, .fail:
            try raise(verdict.result, attemptsLeft: 0)
            try record(CustomReply(attemptsLeft: 0, payload: verdict.payload))
            try work.drop(asked, of: current)
            return .customFailed(payload: verdict.payload)
        case .notRegistered:
            try raise(verdict.result)
            try work.drop(asked, of: current)
            return .customNotRegistered
        }
    }
}

extension UnitOfWork {
    /// Notes how often in a row an authenticator was tried for nothing.
    fileprivate func recordTries(_ tried: Int, _ name: AuthenticatorName, of enrollment: Enrollment) throws {
        var customs = enrollment.customs
        customs[name]?.tried = tried
        try methods.put(customs, of: enrollment.id)
    }

    /// The device answers by the authenticator no more; challenges end that nobody else can answer.
    fileprivate func drop(
        _ asked: AnswerChallenge.AskedAuthenticator, of enrollment: Enrollment
    ) throws {
        try dropAuthenticator(asked.name, of: enrollment)
        try raise(.authenticatorLost(asked.name, of: enrollment))
        try failUnanswerable(by: enrollment, because: .tooManyAttempts)
    }
}

extension ChallengeStatus {
    /// What is kept of an answer that a custom authenticator refused: the challenge waits on.
    fileprivate static let customRefused = ChallengeStatus(state: "pending", reason: "custom_refused")
}

extension CustomData {
    /// Opens what a device has sealed and signed by its primary key; nil when it is anything else.
    init?(_ sealed: [UInt8], from enrollment: Enrollment, at now: Timestamp, ports: Ports) async throws {
        let latest = now.adding(seconds: AnswerChallenge.tolerance).unixSeconds
        let keys = try ports.keys.current()
        let opened = try? await keys.open(sealed, signedBy: enrollment, now: latest)
        guard let opened, opened.signature.type == .text, let text = String(strictUTF8: opened.content) else {
            return nil
        }
        self.init(parsing: text)
    }
}
