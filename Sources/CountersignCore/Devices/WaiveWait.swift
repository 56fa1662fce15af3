package import CountersignWire
import Encodings
package import OpenPGP

/// Ends the wait of an enrollment and of its methods, by a waiver of a client or of the operator.
///
/// Spec: docs/decisions/0046-approval-of-devices.md.
package enum WaiveWait {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment and all its methods count.
        case done
        /// The client may not waive waits.
        case notAllowed
        /// The client is not linked to such a user, or there is no such enrollment with this fingerprint in its group.
        case notFound
    }

    /// Waives the wait of a device of a client's user.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - fingerprint: the fingerprint of the device's certificate, as the user has read it out.
    ///   - reference: the user, by id or by the client's external id.
    ///   - caller: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func waive(
        _ id: EnrollmentID, _ fingerprint: Fingerprint, of reference: UserReference, by caller: ClientCaller,
        ports: Ports
    ) async throws -> Outcome {
        let client = caller.client
        guard client.waivesEnrollmentApproval else { return .notAllowed }
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client.id),
                let enrollment = try work.enrollments.find(id), enrollment.user == user.id, client.mayWaive(enrollment)
            else { return .notFound }
            return try work.waive(enrollment, fingerprint)
        }
    }

    /// Waives the wait of any device, for the operator.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - fingerprint: the fingerprint of the device's certificate, as the user has read it out.
    ///   - actor: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func waive(
        _ id: EnrollmentID, _ fingerprint: Fingerprint, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let enrollment = try work.locked(id) else { return .notFound }
            return try work.waive(enrollment, fingerprint)
        }
    }
}

extension UnitOfWork {
    /// Waives the wait of a device, if its key has the fingerprint.
    ///
    /// The fingerprint makes sure that the waiver is for the device that the user holds, and not for one that took its
    /// place.
    fileprivate func waive(
        _ enrollment: Enrollment, _ fingerprint: Fingerprint
    ) throws -> WaiveWait.Outcome {
        guard enrollment.isPresent, enrollment.fingerprint == fingerprint else { return .notFound }
        guard !enrollment.counts(at: now) || !enrollment.waiting(at: now).isEmpty else { return .done }
        try raise(.enrollmentWaived(enrollment))
        try letIn(enrollment, by: .waiver)
        return .done
    }
}
