/// Shows the calling device its own enrollment, even while it is suspended.
package enum ShowOwnEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment.
        case enrollment(Enrollment)
        /// The call is refused.
        case refused(DeviceRefusal)
    }

    /// Shows the enrollment of the calling device.
    ///
    /// - Parameters:
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(to call: DeviceCall, ports: Ports) async throws -> Outcome {
        try await ports.read(for: call, evenSuspended: true, at: ports.time.now, refused: Outcome.refused) {
            .enrollment($1)
        }
    }
}
