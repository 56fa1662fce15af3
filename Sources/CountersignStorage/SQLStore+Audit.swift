import CountersignCore
import Synchronization

private enum Statements {
    static let last = SQLStatement("SELECT last_value FROM audit_place_seq")
    static let next = SQLStatement("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    static let oldest = SQLStatement("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
}

/// How far the audit is complete.
///
/// On PostgreSQL, concurrent transactions take their places in the audit before they commit. One that commits late has
/// a smaller place than events that are already visible, and a reader that continues after the last visible event would
/// miss its event.
extension SQLStore {
    /// How long to wait for transactions that may have taken a place, and the interval between checks.
    private static let (patience, pause) = (Duration.seconds(1), Duration.milliseconds(5))

    /// See ``Store/auditEnd()``.
    package func auditEnd() async throws -> Int64 {
        guard engine.dialect.locksRows else { return .max }
        // Every transaction that has taken one of these places had its transaction number already, ...
        let place = try await number(Statements.last)
        // ... and that number is smaller than this one.
        let next = try await number(Statements.next)
        let end = ContinuousClock.now + Self.patience
        while try await number(Statements.oldest) < next {
            // After a timeout, the last known end is returned; later calls return more, once the long transaction has
            // ended.
            guard ContinuousClock.now < end else { return completeAudit.known }
            try await Task.sleep(for: Self.pause)
        }
        return completeAudit.reach(place)
    }

    private func number(_ statement: SQLStatement) async throws -> Int64 {
        try await engine.read { try $0.rows(statement, []).first?.integer(0) ?? 0 }
    }
}

/// The place up to which the audit is known to be complete.
final class CompleteAudit: Sendable {
    private let place = Mutex<Int64>(0)

    var known: Int64 { place.withLock { $0 } }

    /// Records that the audit is complete up to a place.
    ///
    /// - Returns: the largest place recorded.
    func reach(_ reached: Int64) -> Int64 {
        place.withLock { place in
            place = max(place, reached)
            return place
        }
    }
}
