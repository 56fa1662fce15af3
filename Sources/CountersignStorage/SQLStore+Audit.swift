import CountersignCore
import Synchronization

private enum Statements {
    static let last = SQLStatement("SELECT last_value FROM audit_sequence_seq")
    static let next = SQLStatement("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    static let oldest = SQLStatement("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
}

/// How far the audit is complete.
///
/// On PostgreSQL, concurrent transactions take their sequence numbers in the audit before they commit. One that
/// commits late has a smaller number than events that are already visible, and a reader that continues after the last
/// visible event would miss its event.
extension SQLStore {
    /// How long to wait for transactions that may have taken a sequence number, and the interval between checks.
    private static let (patience, pause) = (Duration.seconds(1), Duration.milliseconds(5))

    /// See ``Store/auditEnd()``.
    package func auditEnd() async throws -> Int64 {
        guard engine.dialect.locksRows else { return .max }
        // Every transaction that has taken one of these sequence numbers had its transaction number already, ...
        let sequence = try await number(Statements.last)
        // ... and that number is smaller than this one.
        let next = try await number(Statements.next)
        let end = ContinuousClock.now + Self.patience
        while try await number(Statements.oldest) < next {
            // After a timeout, the last known end is returned; later calls return more, once the long transaction has
            // ended.
            guard ContinuousClock.now < end else { return completeAudit.known }
            try await Task.sleep(for: Self.pause)
        }
        return completeAudit.reach(sequence)
    }

    private func number(_ statement: SQLStatement) async throws -> Int64 {
        try await engine.read { try $0.rows(statement, []).first?.integer(0) ?? 0 }
    }
}

/// The sequence number up to which the audit is known to be complete.
final class CompleteAudit: Sendable {
    private let sequence = Mutex<Int64>(0)

    var known: Int64 { sequence.withLock { $0 } }

    /// Records that the audit is complete up to a sequence number.
    ///
    /// - Returns: the largest one recorded.
    func reach(_ reached: Int64) -> Int64 {
        sequence.withLock { sequence in
            sequence = max(sequence, reached)
            return sequence
        }
    }
}
