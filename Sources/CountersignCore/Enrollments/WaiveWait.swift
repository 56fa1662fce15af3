public import CountersignWire
import Encodings
public import OpenPGP

/// Ends the wait of an enrollment and of its methods.
///
/// Spec: design 13 §1.4.
public enum WaiveWait {
    /// What came of it.
    public enum Outcome: Sendable {
        /// All of it counts.
        case done
        /// The client does not have that right.
        case notAllowed
        /// The client is linked to no such user, or there is no such enrollment, or none with this fingerprint.
        case notFound
    }

    /// Waives the wait of a device of a client's user.
    public static func waive(
        _ id: EnrollmentID, _ fingerprint: Fingerprint, of reference: UserReference, by client: Client, ports: Ports
    ) async throws -> Outcome {
        guard client.waivesEnrollmentApproval else { return .notAllowed }
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let user = try writer.linkedUser(reference, of: client.id),
                let enrollment = try writer.enrollment(id), enrollment.user == user.id
            else { return .notFound }
            return try writer.waive(enrollment, fingerprint, by: client.id, at: now, events)
        }
    }

    /// Waives the wait of any device, for the operator.
    public static func waive(
        _ id: EnrollmentID, _ fingerprint: Fingerprint, by admin: Client, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let enrollment = try writer.locked(id) else { return .notFound }
            return try writer.waive(enrollment, fingerprint, by: admin.id, at: now, events)
        }
    }
}

extension StoreWriter {
    /// The fingerprint names the device that is in somebody's hand, not one that took its place meanwhile.
    fileprivate func waive(
        _ enrollment: Enrollment, _ fingerprint: Fingerprint, by client: ClientID, at now: Timestamp,
        _ events: EventIDs
    ) throws -> WaiveWait.Outcome {
        guard enrollment.isPresent, enrollment.keys.primary.fingerprint == fingerprint else { return .notFound }
        guard !enrollment.counts(at: now) || !enrollment.waiting(at: now).isEmpty else { return .done }
        try append(
            .enrollmentWaived, ["fingerprint": .string("\(fingerprint)"), "by": .string("\(client)")], of: enrollment,
            at: now, events)
        try letIn(enrollment, by: .waiver(client), at: now, events)
        return .done
    }
}

/// Tells what counts because its time has come.
public enum TellWaits {
    private static let batch = 200

    /// Tells all of it.
    ///
    /// From when something counts stands with it: nothing depends on this being done in time.
    ///
    /// - Returns: how much there was.
    @discardableResult
    public static func sweep(ports: Ports) async throws -> Int {
        try await untilNothing {
            let now = ports.time.now
            let due = try await ports.store.read { try $0.dueWaits(now: now, limit: batch) }
            for (id, method) in due {
                let events = EventIDs(ports, at: now)
                try await ports.store.commit { writer in
                    let enrollment = try writer.locked(id)
                    // Another node was faster, or it is undone.
                    guard try writer.forgetWait(method, of: id), let enrollment, enrollment.isPresent else { return }
                    if method == .confirm {
                        try writer.letIn(enrollment, by: .time, at: now, events)
                    } else {
                        try writer.noteMethod(method, "counts", of: enrollment, at: now, events)
                    }
                }
            }
            return due.count
        }
    }
}
