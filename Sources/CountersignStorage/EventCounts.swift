import CountersignCore
import Synchronization

/// The number of audit events committed since the store was opened, by kind.
final class EventCounts: Sendable {
    private let state = Mutex<[AuditEventKind: Int]>([:])

    /// The count of each kind that has occurred.
    var counts: [AuditEventKind: Int] { state.withLock { $0 } }

    func add(_ kinds: [AuditEventKind]) {
        guard !kinds.isEmpty else { return }
        state.withLock { state in
            for kind in kinds { state[kind, default: 0] += 1 }
        }
    }
}
