import CountersignCore
import Synchronization

/// How many events of the audit were committed since the store was opened, by kind.
final class EventCounts: Sendable {
    private let state = Mutex<[AuditEventKind: Int]>([:])

    /// Each kind that there was, with its count.
    var counts: [AuditEventKind: Int] { state.withLock { $0 } }

    func add(_ kinds: [AuditEventKind]) {
        guard !kinds.isEmpty else { return }
        state.withLock { state in
            for kind in kinds { state[kind, default: 0] += 1 }
        }
    }
}
