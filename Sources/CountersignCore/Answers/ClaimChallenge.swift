package import CountersignWire
import Encodings

/// Puts a challenge to the device that presents its code.
///
/// Spec: design 3.7.
package enum ClaimChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge is put to the device now, or was before by the same code.
        case claimed
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// The server did not make the code, or made it for another user or another way of transport.
        case codeInvalid
        /// The code was shown too long ago.
        case codeExpired
        /// Another device was first.
        case alreadyClaimed
        /// The challenge has ended.
        case alreadyEnded(ChallengeStatus)
        /// The client that asks does not know the user.
        case userNotLinked
        /// The device itself waits for approval.
        case waiting
        /// The device cannot answer by what the challenge allows.
        case methodMissing([AnswerMethod])
        /// Too many invalid codes.
        case rateLimited(retryAfter: Seconds)
    }

    /// Presents a code.
    package static func claim(_ code: ChallengeCode, by call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        // Decided before any lookup, so that the reply to a forged code reveals nothing about a challenge.
        let madeAt = ports.hasher.time(of: code)
        return try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .refused(refusal) }
            let enrollment = call.enrollment
            guard let madeAt, let challenge = try work.challenges.find(code.challenge),
                case .code(let claim, _) = challenge.channel, challenge.channel.form == code.form
            else { return try refuse(enrollment.id, in: work) }
            // Presented again, since the reply was lost.
            if try work.targets.find(of: challenge.id, enrollment: enrollment.id) != nil { return .claimed }
            if let status = try work.endedStatusForDevice(of: challenge) { return .alreadyEnded(status) }
            guard case .awaited = claim else { return .alreadyClaimed }
            // It may be for one user alone.
            guard challenge.user == nil || challenge.user == enrollment.user else {
                return try refuse(enrollment.id, in: work)
            }
            // Another node may have made it, by a clock that is a little ahead.
            guard now < madeAt.adding(seconds: ChallengeCode.lifetime),
                madeAt <= now.adding(ReplayGuard.tolerance)
            else { return .codeExpired }
            if let refusal = try judge(enrollment, for: challenge, in: work) { return refusal }
            guard try work.challenges.claim(challenge.id, by: enrollment.id, of: enrollment.user, at: now) else {
                // Another call was faster; it may be this very call, sent twice at once.
                return try work.targets.find(of: challenge.id, enrollment: enrollment.id) == nil
                    ? .alreadyClaimed : .claimed
            }
            try work.raise(.challengeClaimed(challenge, by: enrollment, via: code.form))
            return .claimed
        }
    }

    /// Why a device may not be asked, or nil.
    ///
    /// Another device may still claim the challenge.
    private static func judge(
        _ caller: Enrollment, for challenge: Challenge, in work: UnitOfWork
    ) throws -> Outcome? {
        guard try work.links.find(.id(caller.user), of: challenge.question.client) != nil else {
            return .userNotLinked
        }
        // As it is now: a PIN may have been locked since the call was verified.
        let current = try work.enrollments.find(caller.id)
        guard current?.counts(at: work.now) != false else { return .waiting }
        guard let enrollment = current,
            let type = try work.types.find(challenge.question.type), enrollment.satisfies(type),
            enrollment.canAnswer(by: challenge.methods, at: work.now)
        else { return .methodMissing(challenge.methods) }
        return nil
    }

    private static func refuse(
        _ enrollment: EnrollmentID, in work: UnitOfWork
    ) throws -> Outcome {
        try work.countRefused(.claim, of: enrollment).map(Outcome.rateLimited) ?? .codeInvalid
    }
}
