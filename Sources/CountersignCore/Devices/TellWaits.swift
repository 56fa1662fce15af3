import CountersignWire

/// Tells what counts because its time has come.
package enum TellWaits {
    private static let batch = 200

    /// Tells all of it.
    ///
    /// From when something counts stands with it: nothing depends on this being done in time.
    ///
    /// - Returns: how much there was.
    @discardableResult
    package static func sweep(ports: Ports) async throws -> Int {
        try await untilNothing {
            let now = ports.time.now
            let due = try await ports.store.read { try $0.waits.due(now: now, limit: batch) }
            for (id, method) in due {
                try await ports.commit(at: now, as: .system) { work in
                    let enrollment = try work.locked(id)
                    // Another node was faster, or it is undone.
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
