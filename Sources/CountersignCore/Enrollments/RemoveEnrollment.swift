public import CountersignWire
import Encodings

/// Ends an enrollment, by its device, by a client or by the operator.
///
/// It shortens no wait: what is removed is left behind. Spec: design 4, *Removal*; design 13 §2.5.
public enum RemoveEnrollment {
    /// Removes the calling device itself.
    public static func remove(_ call: DeviceCall, ports: Ports) async throws -> DeviceRefusal? {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        let issuer = ports.issuer
        return try await ports.store.commit { writer in
            try writer.lock(call.enrollment.user)
            if let refusal = try writer.admit(call, evenSuspended: true, issuer: issuer) { return refusal }
            _ = try writer.removeEnrollment(call.enrollment.id, reason: .device, by: nil, at: now, events)
            return nil
        }
    }

    /// The reasons that a client may give: what else ends an enrollment is not its to say.
    public static let clientReasons: [RemovalReason] = [.client, .security]

    /// Removes a device of a user, for one of ``clientReasons``.
    ///
    /// - Returns: false when the client is linked to no such user, or the user has no such active enrollment.
    public static func remove(
        _ id: EnrollmentID, of reference: UserReference, by client: Client, because reason: RemovalReason = .client,
        ports: Ports
    ) async throws -> Bool {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let user = try writer.linkedUser(reference, of: client.id),
                let enrollment = try writer.enrollment(id), enrollment.user == user.id
            else { return false }
            return try writer.removeEnrollment(id, reason: reason, by: client.id, at: now, events)
        }
    }

    /// Removes any device, for the operator; one that is lost takes everything with it that waits of its user.
    ///
    /// - Returns: false when there is no such enrollment, or it is over.
    public static func remove(
        _ id: EnrollmentID, because reason: RemovalReason, by admin: Client, ports: Ports
    ) async throws -> Bool {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let known = try writer.locked(id) else { return false }
            guard try writer.removeEnrollment(id, reason: reason, by: admin.id, at: now, events) else { return false }
            guard reason == .lost else { return true }
            for other in try writer.activeEnrollments(of: known.user) {
                if other.counts(at: now) {
                    try writer.undoWaitingMethods(of: other, by: .client(admin.id), at: now, events)
                } else {
                    _ = try writer.removeEnrollment(other.id, reason: reason, by: admin.id, at: now, events)
                }
            }
            return true
        }
    }
}

extension StoreWriter {
    /// Ends an enrollment and every pending challenge that nobody else can answer.
    ///
    /// The caller has locked the user's row.
    ///
    /// - Returns: false when it was not active.
    func removeEnrollment(
        _ id: EnrollmentID, reason: RemovalReason, by client: ClientID?, at now: Timestamp, _ events: EventIDs
    ) throws -> Bool {
        guard let enrollment = try enrollment(id), try remove(id, reason: reason, at: now) else { return false }
        try leaveBehind(enrollment, at: now, events.hasher)
        try forgetWaits(of: id)
        wake(.enrollment(id))
        try append(
            AuditEvent(
                id: events.next(), at: now, kind: .enrollmentRemoved, client: client ?? enrollment.client,
                user: enrollment.user, enrollment: id, detail: ["reason": .string(reason.rawValue)]))
        try tellClients(.removed(reason), of: enrollment, at: now, events)
        for name in enrollment.customs.keys.sorted() {
            try tellDeregistered(name, of: enrollment, at: now, events)
        }
        if let approval = try enrollment.approval.flatMap({ try challenge($0) }) {
            _ = try finish(approval, as: .cancelled, at: now, events)
        }
        try failPending(of: enrollment, because: .deviceRemoved, at: now, events)
        return true
    }

    /// Ends what a device that is removed or suspended keeps open: what nobody else can answer, and what it approved by
    /// a link and nobody was told of yet, for such a device says yes to nothing.
    func failPending(
        of enrollment: Enrollment, because reason: FailureReason, at now: Timestamp, _ events: EventIDs
    ) throws {
        try failUnanswerable(by: enrollment, because: reason, at: now, events)
        for challenge in try heldChallenges(approvedBy: enrollment.id, user: enrollment.user, now: now) {
            _ = try finish(challenge, as: .failed(reason), at: now, events)
        }
    }

    /// Ends every pending challenge put to an enrollment that no device can say yes to any more.
    ///
    /// What a new device is asked about goes on: it can still be said no to.
    func failUnanswerable(
        by enrollment: Enrollment, because reason: FailureReason, at now: Timestamp, _ events: EventIDs
    ) throws {
        for challenge in try pendingChallenges(of: enrollment.id, user: enrollment.user, now: now, limit: .max)
        where challenge.newDevice == nil {
            let isAnswerable = try targets(of: challenge.id).contains { target in
                // Its state first, which keeps it from changing until this commits.
                try enrollmentState(target) == .active
                    && self.enrollment(target)?.canAnswer(by: challenge.methods, at: now) == true
            }
            if !isAnswerable { _ = try finish(challenge, as: .failed(reason), at: now, events) }
        }
    }
}
