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

/// Confirms the devices whose users have said so by an address, when their wait is over.
package enum ConfirmWaiting {
    private static let batch = 200

    /// Confirms all devices that are due, in batches.
    ///
    /// - Throws: ``StoreError``.
    package static func sweep(ports: Ports) async throws {
        _ = try await untilNothing {
            let now = ports.time.now
            let due = try await ports.store.read { try $0.enrollments.confirming(by: now, limit: batch) }
            for id in due {
                try await ports.commit(at: now, as: .system) { work in
                    // Somebody may have removed or suspended it since, or another node was faster.
                    guard let enrollment = try work.locked(id), let time = enrollment.confirmingFrom, time <= now else {
                        return
                    }
                    try work.confirm(enrollment)
                }
            }
            return due.count
        }
    }
}
