import CountersignWire

/// Removes the enrollment of the calling device, even while it is suspended.
package enum RemoveOwnEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment is removed.
        case removed
        /// The call is refused.
        case refused(DeviceRefusal)
    }

    /// Removes the enrollment of the calling device.
    ///
    /// - Parameters:
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func remove(by call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(call.user)
            if let refusal = try work.admit(call, evenSuspended: true) { return .refused(refusal) }
            _ = try work.removeEnrollment(call.enrollment, reason: .device)
            return .removed
        }
    }
}
