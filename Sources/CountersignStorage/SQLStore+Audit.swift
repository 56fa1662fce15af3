import CountersignCore
import Synchronization

private enum Statements {
    static let last = SQLStatement("SELECT last_value FROM audit_place_seq")
    static let next = SQLStatement("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    static let oldest = SQLStatement("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
}

/// How far the audit is complete.
///
/// On PostgreSQL places are given out while transactions run beside each other: one that commits late has a place before
/// others that are read already, and whoever reads on from the last would pass it.
extension SQLStore {
    /// How long to wait for transactions that may have taken a place, and how often to look.
    private static let (patience, pause) = (Duration.seconds(1), Duration.milliseconds(5))

    /// See ``Store/auditEnd()``.
    package func auditEnd() async throws -> Int64 {
        guard engine.dialect.locksRows else { return .max }
        // Whoever has taken one of these places had its number before, and so ...
        let place = try await number(Statements.last)
        // ... one before this.
        let next = try await number(Statements.next)
        let end = ContinuousClock.now + Self.patience
        while try await number(Statements.oldest) < next {
            // As far as was seen before; the rest when the transaction that takes so long is over.
            guard ContinuousClock.now < end else { return completeAudit.known }
            try await Task.sleep(for: Self.pause)
        }
        return completeAudit.reach(place)
    }

    private func number(_ statement: SQLStatement) async throws -> Int64 {
        try await engine.read { try $0.rows(statement, []).first?.integer(0) ?? 0 }
    }
}

/// Up to which place the audit was seen to be complete.
final class CompleteAudit: Sendable {
    private let place = Mutex<Int64>(0)

    /// What was seen last.
    var known: Int64 { place.withLock { $0 } }

    /// Notes that it is complete up to a place.
    func reach(_ reached: Int64) -> Int64 {
        place.withLock { place in
            place = max(place, reached)
            return place
        }
    }
}
