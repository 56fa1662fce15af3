import CountersignWire

/// Announces the devices and methods whose wait is over.
package enum TellWaits {
    private static let batch = 200

    /// Announces all devices and methods whose wait is over, in batches.
    ///
    /// Whether something counts does not depend on when this runs, because the time from which it counts is stored with
    /// it. The removal of devices that exceed a limit does depend on it.
    ///
    /// - Parameter ports: the external dependencies.
    /// - Returns: how many devices and methods were due.
    /// - Throws: ``StoreError``.
    @discardableResult
    package static func sweep(ports: Ports) async throws -> Int {
        try await untilNothing {
            let now = ports.time.now
            let due = try await ports.store.read { try $0.waits.due(now: now, limit: batch) }
            for (id, method) in due {
                try await ports.commit(at: now, as: .system) { work in
                    let enrollment = try work.locked(id)
                    // The method may have been removed since and set again, so that it waits anew.
                    if enrollment?.waits(method, at: work.now) == true { return }
                    // Another node may have been faster, or the wait was ended or the method removed since.
                    guard try work.waits.delete(method, of: id), let enrollment, enrollment.isPresent else { return }
                    if method == .confirm {
                        try work.letIn(enrollment, by: .time)
                    } else {
                        try work.raise(.methodChanged(MethodEvent(method: method, change: .counts), of: enrollment))
                    }
                }
            }
            return due.count
        }
    }
}
