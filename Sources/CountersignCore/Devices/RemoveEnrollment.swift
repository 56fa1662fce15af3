package import CountersignWire
import Encodings

/// Ends an enrollment, for a client or for the operator; see ``RemoveOwnEnrollment`` for the device itself.
///
/// It shortens no wait: what is removed is left behind. Spec: design 4, *Removal*; design 13 §2.5.
package enum RemoveEnrollment {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment is over.
        case removed
        /// The client is linked to no such user, or there is no such enrollment, or it was over before.
        case notFound
    }

    /// The reasons that a client may give: what else ends an enrollment is not its to say.
    package static let clientReasons: [RemovalReason] = [.client, .security]

    /// Removes a device of a user, for one of ``clientReasons``.
    package static func remove(
        _ id: EnrollmentID, of reference: UserReference, by caller: ClientCaller,
        because reason: RemovalReason = .client,
        ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let client = caller.client.id
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client),
                let enrollment = try work.enrollments.find(id), enrollment.user == user.id
            else { return .notFound }
            return try work.removeEnrollment(id, reason: reason, concerning: client) ? .removed : .notFound
        }
    }

    /// Removes any device, for the operator; one that is lost takes everything with it that waits of its user.
    package static func remove(
        _ id: EnrollmentID, because reason: RemovalReason, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let known = try work.locked(id) else { return .notFound }
            guard try work.removeEnrollment(id, reason: reason, concerning: actor.client) else { return .notFound }
            guard reason == .lost else { return .removed }
            for other in try work.enrollments.active(of: known.user) {
                if other.counts(at: now) {
                    try work.undoWaitingMethods(of: other)
                } else {
                    _ = try work.removeEnrollment(other.id, reason: reason, concerning: actor.client)
                }
            }
            return .removed
        }
    }
}

extension UnitOfWork {
    /// Ends an enrollment and every pending challenge that nobody else can answer.
    ///
    /// The caller has locked the user's row.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - reason: why it ends.
    ///   - client: the client concerned; nil for the one through which it came.
    /// - Returns: false when it was not active.
    func removeEnrollment(
        _ id: EnrollmentID, reason: RemovalReason, concerning client: ClientID? = nil
    ) throws -> Bool {
        guard let enrollment = try enrollments.find(id), try enrollments.remove(id, reason: reason, at: now) else {
            return false
        }
        try leaveBehind(enrollment)
        try waits.deleteAll(of: id)
        try raise(.enrollmentRemoved(enrollment, reason, client: client ?? enrollment.client))
        if let approval = try enrollment.approval.flatMap({ try challenges.find($0) }) {
            try endChallenge(approval, as: .cancelled)
        }
        try failPending(of: enrollment, because: .deviceRemoved)
        return true
    }

    /// Ends what a device that is removed or suspended keeps open: what nobody else can answer, and what it approved by
    /// a link and nobody was told of yet, for such a device says yes to nothing.
    func failPending(
        of enrollment: Enrollment, because reason: FailureReason
    ) throws {
        try failUnanswerable(by: enrollment, because: reason)
        for challenge in try challenges.held(approvedBy: enrollment.id, user: enrollment.user, now: now) {
            try endChallenge(challenge, as: .failed(reason))
        }
    }

    /// Ends the pending challenges put to an enrollment that no device can approve any more.
    func failUnanswerable(
        by enrollment: Enrollment, because reason: FailureReason
    ) throws {
        for challenge in try targets.pending(of: enrollment.id, user: enrollment.user, now: now, limit: .max)
        where challenge.purpose.failsWhenUnanswerable {
            let isAnswerable = try targets.all(of: challenge.id).contains { target in
                // Its state first, which keeps it from changing until this commits.
                try enrollments.state(target) == .active
                    && enrollments.find(target)?.canAnswer(by: challenge.methods, at: now) == true
            }
            if !isAnswerable { try endChallenge(challenge, as: .failed(reason)) }
        }
    }
}
