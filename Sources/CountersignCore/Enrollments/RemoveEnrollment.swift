public import CountersignWire
import Encodings

/// Ends an enrollment, by its device or by a client.
///
/// Spec: design 4, *Removal*.
public enum RemoveEnrollment {
    /// Removes the calling device itself.
    public static func remove(_ call: DeviceCall, ports: Ports) async throws -> DeviceRefusal? {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        let issuer = ports.issuer
        return try await ports.store.commit { writer in
            if let refusal = try writer.admit(call, issuer: issuer) { return refusal }
            _ = try writer.removeEnrollment(call.enrollment, reason: .device, by: nil, at: now, events)
            return nil
        }
    }

    /// Removes a device of a user.
    ///
    /// - Returns: false when the client is linked to no such user, or the user has no such active enrollment.
    public static func remove(
        _ id: EnrollmentID, of reference: UserReference, by client: Client, ports: Ports
    ) async throws -> Bool {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let user = try writer.linkedUser(reference, of: client.id),
                let enrollment = try writer.enrollment(id), enrollment.user == user.id
            else { return false }
            return try writer.removeEnrollment(enrollment, reason: .client, by: client.id, at: now, events)
        }
    }
}

extension StoreWriter {
    /// Ends an enrollment and every pending challenge that nobody else can answer.
    ///
    /// - Returns: false when it was not active.
    func removeEnrollment(
        _ enrollment: Enrollment, reason: RemovalReason, by client: ClientID?, at now: Timestamp, _ events: EventIDs
    ) throws -> Bool {
        guard try remove(enrollment.id, reason: reason, at: now) else { return false }
        wake(.enrollment(enrollment.id))
        try append(
            AuditEvent(
                id: events.next(), at: now, kind: .enrollmentRemoved, client: client ?? enrollment.client,
                user: enrollment.user, enrollment: enrollment.id, detail: ["reason": .string(reason.rawValue)]))
        try tellClients(.removed(reason), of: enrollment, at: now, events)
        for name in enrollment.customs.keys.sorted() {
            try tellDeregistered(name, of: enrollment, at: now, events)
        }
        if let approval = try enrollment.wait.flatMap({ try challenge($0.challenge) }) {
            _ = try finish(approval, as: .cancelled, at: now, events)
        }
        try failUnanswerable(by: enrollment, because: .deviceRemoved, at: now, events)
        return true
    }

    /// Ends every pending challenge put to an enrollment that no device can say yes to any more.
    ///
    /// What a new device waits for goes on: it is the time that lets it in then.
    func failUnanswerable(
        by enrollment: Enrollment, because reason: FailureReason, at now: Timestamp, _ events: EventIDs
    ) throws {
        for challenge in try pendingChallenges(of: enrollment.id, user: enrollment.user, now: now, limit: .max)
        where challenge.newDevice == nil {
            let isAnswerable = try targets(of: challenge.id).contains { target in
                // Its state first, which keeps it from changing until this commits.
                try enrollmentState(target) == .active
                    && self.enrollment(target)?.canAnswer(by: challenge.methods) == true
            }
            if !isAnswerable { _ = try finish(challenge, as: .failed(reason), at: now, events) }
        }
    }
}
