package import CountersignWire
import Encodings

/// Removes an enrollment, for a client or for the operator; ``RemoveOwnEnrollment`` is for the device itself.
///
/// A removal shortens no wait: new devices wait as if the removed one were still there, for as long as the record that
/// it leaves behind lasts. Spec: docs/protocol/enrollment.md, *The end of an enrollment*;
/// docs/decisions/0046-approval-of-devices.md.
package enum RemoveEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment is removed.
        case removed
        /// The client is not linked to such a user, there is no such enrollment in its group, or it was removed before.
        case notFound
    }

    /// The reasons that a client may give for a removal.
    package static let clientReasons: [RemovalReason] = [.client, .security]

    /// Removes an enrollment of a client's user.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - reference: the user, by id or by the client's external id.
    ///   - caller: the client.
    ///   - reason: one of ``clientReasons``.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func remove(
        _ id: EnrollmentID, of reference: UserReference, by caller: ClientCaller,
        because reason: RemovalReason = .client,
        ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let client = caller.client
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client.id),
                let enrollment = try work.enrollments.find(id), enrollment.user == user.id, client.mayRemove(enrollment)
            else { return .notFound }
            return try work.removeEnrollment(id, reason: reason, concerning: client.id) ? .removed : .notFound
        }
    }

    /// Removes any enrollment, for the operator.
    ///
    /// If the device is lost, this also removes every other device and every method of the user that still waits.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - reason: why it is removed.
    ///   - actor: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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
    /// Removes an enrollment, and ends every pending challenge that no other device can answer.
    ///
    /// The caller has locked the user's row.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - reason: why it is removed.
    ///   - client: the client that the audit names; nil for the one whose ticket made the enrollment.
    /// - Returns: false if there is no such enrollment, or it was removed before.
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

    /// Fails the challenges that a device leaves open when it is removed or suspended.
    ///
    /// These are the challenges that no other device can answer, and those that the device approved by a link whose
    /// client does not know of the approval yet.
    func failPending(
        of enrollment: Enrollment, because reason: FailureReason
    ) throws {
        try failUnanswerable(by: enrollment, because: reason)
        for challenge in try challenges.held(approvedBy: enrollment.id, user: enrollment.user, now: now) {
            try endChallenge(challenge, as: .failed(reason))
        }
    }

    private func canAnswer(_ challenge: Challenge, _ target: EnrollmentID) throws -> Bool {
        guard let device = try enrollments.find(target), device.canAnswer(by: challenge.methods, at: now) else {
            return false
        }
        return try isBelieved(device, at: challenge.question.client)
    }

    /// Fails the pending challenges put to an enrollment, if no device can approve them any more.
    ///
    /// Questions about new devices stay open; see ``Purpose/failsWhenUnanswerable``.
    func failUnanswerable(
        by enrollment: Enrollment, because reason: FailureReason
    ) throws {
        for challenge in try targets.pending(
            of: enrollment.id, user: enrollment.user, now: now, limit: .max)?.challenges ?? []
        where challenge.purpose.failsWhenUnanswerable {
            let isAnswerable = try targets.all(of: challenge.id).contains { target in
                // Reading the state locks the row, so the enrollment does not change until this transaction commits.
                try enrollments.state(target) == .active
                    && canAnswer(challenge, target)
            }
            if !isAnswerable { try endChallenge(challenge, as: .failed(reason)) }
        }
    }
}
