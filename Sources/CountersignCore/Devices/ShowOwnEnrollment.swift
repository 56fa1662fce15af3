/// Shows the calling device its own enrollment, also while it is suspended.
package enum ShowOwnEnrollment {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment.
        case enrollment(Enrollment)
        /// The call is refused.
        case refused(DeviceRefusal)
    }

    /// Shows the enrollment.
    package static func show(to call: DeviceCall, ports: Ports) async throws -> Outcome {
        let refusal = try await ports.commit(at: ports.time.now, as: call.actor) {
            try $0.admit(call, evenSuspended: true)
        }
        return refusal.map(Outcome.refused) ?? .enrollment(call.enrollment)
    }
}
