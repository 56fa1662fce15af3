package import CountersignWire
import Encodings
package import OpenPGP

/// Ends the wait of an enrollment and of its methods.
///
/// Spec: design 13 §1.4.
package enum WaiveWait {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// All of it counts.
        case done
        /// The client does not have that right.
        case notAllowed
        /// The client is linked to no such user, or there is no such enrollment, or none with this fingerprint.
        case notFound
    }

    /// Waives the wait of a device of a client's user.
    package static func waive(
        _ id: EnrollmentID, _ fingerprint: Fingerprint, of reference: UserReference, by caller: ClientCaller,
        ports: Ports
    ) async throws -> Outcome {
        let client = caller.client
        guard client.waivesEnrollmentApproval else { return .notAllowed }
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client.id),
                let enrollment = try work.enrollments.find(id), enrollment.user == user.id
            else { return .notFound }
            return try work.waive(enrollment, fingerprint)
        }
    }

    /// Waives the wait of any device, for the operator.
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
    /// The fingerprint names the device that is in somebody's hand, not one that took its place meanwhile.
    fileprivate func waive(
        _ enrollment: Enrollment, _ fingerprint: Fingerprint
    ) throws -> WaiveWait.Outcome {
        guard enrollment.isPresent, enrollment.keys.primary.fingerprint == fingerprint else { return .notFound }
        guard !enrollment.counts(at: now) || !enrollment.waiting(at: now).isEmpty else { return .done }
        try raise(.enrollmentWaived(enrollment))
        try letIn(enrollment, by: .waiver)
        return .done
    }
}
