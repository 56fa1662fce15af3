import CountersignWire

/// Ends the enrollment of the calling device, also while it is suspended.
package enum RemoveOwnEnrollment {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment is over.
        case removed
        /// The call is refused.
        case refused(DeviceRefusal)
    }

    /// Ends the enrollment.
    package static func remove(by call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(call.enrollment.user)
            if let refusal = try work.admit(call, evenSuspended: true) { return .refused(refusal) }
            _ = try work.removeEnrollment(call.enrollment.id, reason: .device)
            return .removed
        }
    }
}
