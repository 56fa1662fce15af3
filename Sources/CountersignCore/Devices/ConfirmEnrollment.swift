package import CountersignWire

/// Confirms a device in the name of its user, for the operator.
///
/// Spec: docs/decisions/0075-whose-devices-are-believed.md.
package enum ConfirmEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The device is confirmed, now or since before.
        case done
        /// There is no such enrollment, or it is removed.
        case notFound
    }

    /// Confirms a device; one that waits goes on waiting.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - actor: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func confirm(_ id: EnrollmentID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let enrollment = try work.locked(id), enrollment.isPresent else { return .notFound }
            try work.confirm(enrollment)
            return .done
        }
    }
}
