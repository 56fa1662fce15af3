package import CountersignWire
import Encodings

/// Assigns a challenge to the device that presents its code.
///
/// Spec: docs/protocol/codes-and-links.md, *Claim*.
package enum ClaimChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge is assigned to the device, now or by an earlier call.
        case claimed
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// The server did not make this code in this form, or the challenge is reserved for another user.
        case codeInvalid
        /// The code is too old, or its time is too far in the future.
        case codeExpired
        /// Another device has claimed the challenge before.
        case alreadyClaimed
        /// The challenge has ended.
        case alreadyEnded(ChallengeStatus)
        /// The client of the challenge is not linked to the device's user.
        case userNotLinked
        /// The device itself still waits until it counts.
        case waiting
        /// Its user has not confirmed the device, and the client belongs to another group than the one that enrolled it.
        case notConfirmed
        /// The device has none of the methods that the challenge allows, or does not meet the requirements of its
        /// type; `[AnswerMethod]` holds the allowed methods.
        case methodMissing([AnswerMethod])
        /// There were too many invalid codes from this device.
        case rateLimited(retryAfter: Seconds)
    }

    /// Claims the challenge of a code for the calling device.
    ///
    /// - Parameters:
    ///   - code: the code that the device read or that a link brought.
    ///   - call: the authenticated call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func claim(_ code: ChallengeCode, by call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        // The MAC is checked before any lookup, so that the reply to a forged code reveals nothing about a challenge.
        let madeAt = ports.hasher.time(of: code)
        return try await ports.commit(at: now, as: call.actor) { work in
            let enrollment: Enrollment
            switch try work.admitted(call) {
            case .success(let caller): enrollment = caller
            case .failure(let refusal): return .refused(refusal)
            }
            guard let madeAt, let challenge = try work.challenges.find(code.challenge),
                case .code(let claim, _) = challenge.channel, challenge.channel.form == code.form
            else { return try refuse(enrollment.id, in: work) }
            // The device presents the code again because the reply was lost.
            if try work.targets.find(of: challenge.id, enrollment: enrollment.id) != nil { return .claimed }
            if let status = try work.endedStatusForDevice(of: challenge) { return .alreadyEnded(status) }
            guard case .awaited = claim else { return .alreadyClaimed }
            // The challenge may be reserved for one user.
            // check: ClaimTests.invalid
            guard challenge.user == nil || challenge.user == enrollment.user else {
                return try refuse(enrollment.id, in: work)
            }
            // Another node, whose clock is a little ahead, may have made the code.
            // check: ClaimTests.times
            guard now < madeAt.adding(seconds: ChallengeCode.lifetime),
                madeAt <= now.adding(ReplayGuard.tolerance)
            else { return .codeExpired }
            if let refusal = try judge(enrollment, for: challenge, in: work) { return refusal }
            guard try work.challenges.claim(challenge.id, by: enrollment.id, of: enrollment.user, at: now) else {
                // Another call was faster; it may be the same call, sent twice at once.
                return try work.targets.find(of: challenge.id, enrollment: enrollment.id) == nil
                    ? .alreadyClaimed : .claimed
            }
            try work.raise(.challengeClaimed(challenge, by: enrollment, via: code.form))
            return .claimed
        }
    }

    /// The reason why a challenge cannot be put to a device; nil if it can.
    ///
    /// The refusal leaves the challenge open, so another device can still claim it.
    private static func judge(
        _ enrollment: Enrollment, for challenge: Challenge, in work: UnitOfWork
    ) throws -> Outcome? {
        let client = challenge.question.client
        // Somebody who signs in may become a user of the client.
        // check: ClaimTests.unable
        guard
            try challenge.purpose.authorization == nil
                ? work.links.find(.id(enrollment.user), of: client) != nil
                : work.isWelcome(enrollment.user, at: client)
        else { return .userNotLinked }
        guard enrollment.counts(at: work.now) else { return .waiting }
        // check: TrustGroupTests.planted
        guard try work.isBelieved(enrollment, at: client) else { return .notConfirmed }
        guard let type = try work.types.find(challenge.question.type), enrollment.satisfies(type),
            enrollment.canAnswer(by: challenge.methods, at: work.now),
            enrollment.signsReceipts || !challenge.needsReceipt
        else { return .methodMissing(challenge.methods) }
        return nil
    }

    private static func refuse(
        _ enrollment: EnrollmentID, in work: UnitOfWork
    ) throws -> Outcome {
        try work.countRefused(.claim, of: enrollment).map(Outcome.rateLimited) ?? .codeInvalid
    }
}
