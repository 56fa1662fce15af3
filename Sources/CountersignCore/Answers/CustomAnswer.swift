import CountersignWire
import Encodings
import OpenPGP

/// The result of a custom authenticator, as it is reported to the device.
package struct CustomReply: Hashable, Sendable {
    /// How many tries are left.
    package let attemptsLeft: Int
    /// The hook's reply to the app; nil if there is none.
    package let payload: String?

    /// A reply of these parts.
    package init(attemptsLeft: Int, payload: String?) {
        self.attemptsLeft = attemptsLeft
        self.payload = payload
    }
}

/// Check 8 of an answer: a custom authenticator judges an answer that passed all earlier checks.
///
/// The first transaction admits the device and counts the try. Then the client's hook is asked, outside of any
/// transaction. The last transaction stores the result as check 9 does. A try is counted before the hook is asked, so
/// that concurrent tries cannot exceed the limit. Spec: docs/decisions/0048-custom-authenticators.md.
struct CustomAnswer: Sendable {
    private typealias Outcome = AnswerChallenge.Outcome

    private enum Beginning: Sendable {
        case ended(AnswerChallenge.Outcome)
        case asking(HookQuestion)
    }

    let challenge: Challenge
    fileprivate let name: AuthenticatorName
    private let data: CustomData
    private let answer: VerifiedAnswer

    /// Opens the data for the authenticator; nil if they are not those that the receipt names.
    ///
    /// The data are opened after all other checks, so that only a device that can answer learns whether they can be
    /// opened.
    init?(
        _ answer: VerifiedAnswer, to challenge: Challenge, by name: AuthenticatorName, _ sealed: [UInt8]?,
        from enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws {
        guard let sealed, MessageDigest(of: sealed).bytes == answer.customDataHash,
            let data = try await CustomData(sealed, from: enrollment, at: now, ports: ports)
        else { return nil }
        self.challenge = challenge
        self.name = name
        self.data = data
        self.answer = answer
    }

    /// Asks the hook about the answer and stores the result.
    func settled(digest: MessageDigest, _ call: DeviceCall, by enrollment: Enrollment, at now: Timestamp, ports: Ports)
        async throws
        -> AnswerChallenge.Outcome
    {
        let beginning = try await ports.commit(at: now, as: call.actor) { work in
            try work.enrollments.lock(enrollment.id)
            if let refusal = try work.admit(call) { return Beginning.ended(.refused(refusal)) }
            return try begin(settling(digest, by: enrollment, in: work))
        }
        switch beginning {
        case .ended(let outcome): return outcome
        case .asking(let question):
            let verdict = await ports.hooks.ask(question)
            // The hook may have taken seconds, so the time is read again.
            return try await ports.commit(at: ports.time.now, as: call.actor) { work in
                try work.enrollments.lock(enrollment.id)
                if let refusal = try work.stores.refusal(of: enrollment.id, issuer: work.issuer) {
                    return .refused(refusal)
                }
                return try conclude(
                    verdict, limit: question.authenticator.attempts, settling(digest, by: enrollment, in: work))
            }
        }
    }

    private func settling(_ digest: MessageDigest, by enrollment: Enrollment, in work: UnitOfWork) -> SettleAnswer {
        SettleAnswer(id: challenge.id, digest: digest, enrollment: enrollment, work: work)
    }

    private func begin(_ settling: SettleAnswer) throws -> Beginning {
        if let earlier = try settling.earlier() { return .ended(earlier) }
        let work = settling.work
        guard let current = try work.enrollments.find(settling.enrollment.id),
            let custom = current.customs[name]
        else { return .ended(.customNotRegistered) }
        guard try work.mayJudge(name, of: current, for: challenge.question.client) else {
            return .ended(try settling.refuse(because: .notConfirmed))
        }
        let question = try work.hookQuestion(
            .verify(challenge.id, type: challenge.question.type), name, data, of: current,
            id: "\(challenge.id).\(settling.digest.hex.prefix(32))")
        guard let question else {
            // The client has removed the authenticator.
            try work.drop(name, of: current)
            return .ended(.customNotRegistered)
        }
        let (most, deadline) = (question.authenticator.attempts, question.authenticator.deadline)
        var tried = custom.tried
        if tried >= most {
            // As many tries as are allowed have begun. A try without a verdict at twice the deadline never gets one,
            // because the server has stopped or the device was suspended meanwhile; then one more is allowed. The
            // client may also have lowered the limit.
            if let triedAt = custom.triedAt, work.now < triedAt.adding(2 * deadline) {
                return .ended(.rateLimited(retryAfter: deadline))
            }
            tried = most - 1
        }
        try work.recordFetch(of: challenge, by: current)
        try work.recordTries(tried + 1, begunAt: work.now, name, of: current)
        return .asking(question)
    }

    private func conclude(_ verdict: HookVerdict?, limit: Int, _ settling: SettleAnswer) throws -> Outcome {
        // The same answer was sent twice at once, and the other call was faster.
        if let earlier = try settling.earlier() { return earlier }
        let (work, enrollment) = (settling.work, settling.enrollment)
        guard let current = try work.enrollments.find(enrollment.id), let tried = current.customs[name]?.tried else {
            return .customNotRegistered
        }
        func raise(_ verdict: HookVerdict.Result?, attemptsLeft: Int? = nil) throws {
            let result = CustomResult(verdict: verdict, attemptsLeft: attemptsLeft)
            try work.raise(.customAnswered(name, result, to: challenge, by: enrollment))
        }
        guard let verdict else {
            try work.recordTries(max(0, tried - 1), name, of: current)
            if let seconds = try work.countRefused(.custom, of: enrollment.id) {
                return .rateLimited(retryAfter: seconds)
            }
            try raise(nil)
            return .customUnavailable
        }
        switch verdict.result {
        case .ok:
            try work.recordTries(0, name, of: current)
            let outcome = try settling.decide(
                challenge, .approved(.custom(name), by: enrollment.id), evidence: answer.evidence,
                custom: CustomReply(attemptsLeft: limit, payload: verdict.payload))
            if case .decided = outcome { try raise(verdict.result) }
            return outcome
        case .retry where tried < limit:
            try raise(verdict.result, attemptsLeft: limit - tried)
            if let failed = try settling.fail(challenge) { return failed }
            let triesLeft = try work.stores.triesLeft(of: challenge, at: work.now)
            let reply = CustomReply(attemptsLeft: min(limit - tried, triesLeft), payload: verdict.payload)
            try settling.record(.customRefused, custom: reply)
            return .customRetry(reply)
        case .retry, .fail:
            try raise(verdict.result, attemptsLeft: 0)
            try settling.record(.customRefused, custom: CustomReply(attemptsLeft: 0, payload: verdict.payload))
            try work.drop(name, of: current)
            return .customFailed(payload: verdict.payload)
        case .notRegistered:
            try raise(verdict.result)
            try work.drop(name, of: current)
            return .customNotRegistered
        }
    }
}

extension UnitOfWork {
    /// Records how many tries in a row were unsuccessful or are in progress, and when a new one begins.
    fileprivate func recordTries(
        _ tried: Int, begunAt time: Timestamp? = nil, _ name: AuthenticatorName, of enrollment: Enrollment
    ) throws {
        var customs = enrollment.customs
        customs[name]?.tried = tried
        if let time { customs[name]?.triedAt = time }
        try methods.put(customs, of: enrollment.id)
    }

    /// Removes the authenticator from the device, and ends the challenges that no device can answer any more.
    fileprivate func drop(_ name: AuthenticatorName, of enrollment: Enrollment) throws {
        try dropAuthenticator(name, of: enrollment)
        try raise(.authenticatorLost(name, of: enrollment))
        try failUnanswerable(by: enrollment, because: .tooManyAttempts)
    }
}

extension ChallengeStatus {
    /// The recorded status after a custom authenticator refused an answer: the challenge stays pending.
    fileprivate static let customRefused = ChallengeStatus(state: "pending", reason: "custom_refused")
}

extension CustomData {
    /// Opens data that a device sealed and signed with its primary key; nil if they are anything else.
    init?(_ sealed: [UInt8], from enrollment: Enrollment, at now: Timestamp, ports: Ports) async throws {
        let latest = now.adding(AnswerChallenge.tolerance).unixSeconds
        let keys = try ports.keys.current()
        let opened = try? await keys.open(sealed, signedBy: enrollment, now: latest)
        guard let opened, opened.signature.type == .text, let text = String(strictUTF8: opened.content) else {
            return nil
        }
        self.init(parsing: text)
    }
}
