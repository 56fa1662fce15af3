import CountersignCore

/// The engine's own tables, which hold no data of the product.
///
/// `commits` has a row for each recent write transaction. Its id answers whether a commit whose reply was lost took
/// place. Its topics tell the other nodes what changed, even when no notification reaches them. `turns` holds which
/// node does the work that only one node at a time may do.
enum PostgresCommits {
    /// An arbitrary number, the same on every node.
    private static let lock = 4_711_001

    /// READ COMMITTED lets each statement see what another node created before; nodes that start at the same time take
    /// turns.
    static let beginMaking = SQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let waitToMake = SQLStatement("SELECT pg_advisory_xact_lock(\(lock))")
    static let making = [
        """
        CREATE TABLE IF NOT EXISTS commits (
          id TEXT PRIMARY KEY, run BIGINT NOT NULL, topics TEXT NOT NULL,
          xid BIGINT NOT NULL DEFAULT pg_current_xact_id()::text::bigint, at TIMESTAMPTZ NOT NULL DEFAULT now()
        )
        """,
        "CREATE INDEX IF NOT EXISTS commits_news ON commits (xid) WHERE topics <> ''",
        // Rows are stored in the order of their times, so a BRIN index, the smallest kind, suffices.
        "CREATE INDEX IF NOT EXISTS commits_age ON commits USING brin (at)",
        "CREATE TABLE IF NOT EXISTS turns (work TEXT PRIMARY KEY, node TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)",
    ].map { SQLStatement($0) }

    /// Waits for a transaction that inserts the same id, and fails when the id exists.
    static let leave = leave(after: 0)

    /// The same in one statement with a change, whose arguments come first.
    static func leave(with change: SQLStatement, _ count: Int) -> SQLStatement {
        SQLStatement("WITH change AS (\(change.text)) \(leave(after: count).text)")
    }

    private static func leave(after count: Int) -> SQLStatement {
        SQLStatement("INSERT INTO commits (id, run, topics) VALUES ($\(count + 1), $\(count + 2), $\(count + 3))")
    }

    static let addNotices = SQLStatement("UPDATE commits SET topics = $2 WHERE id = $1")
    static let run = SQLStatement("SELECT run FROM commits WHERE id = $1")

    /// The topics of transactions from a number on, without those whose ids begin with a text, and the number before
    /// which all transactions have ended.
    static let news = SQLStatement(
        """
        SELECT now.oldest, c.xid, c.id, c.topics
        FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest) now
        LEFT JOIN commits c ON c.xid >= $1 AND c.topics <> '' AND NOT starts_with(c.id, $2)
        """)
    /// How long a node can rely on no unread row having been deleted.
    static let memory = Duration.seconds(300)
    /// Deletes rows that no node needs any more.
    static let sweep = SQLStatement("DELETE FROM commits WHERE at < now() - interval '10 minutes'")

    /// Takes or keeps a turn; returns no row when another node has it.
    static let takeTurn = SQLStatement(
        """
        INSERT INTO turns (work, node, until) VALUES ($1, $2, now() + $3::bigint * interval '1 second')
        ON CONFLICT (work) DO UPDATE SET node = excluded.node, until = excluded.until
        WHERE turns.node = excluded.node OR turns.until < now() RETURNING node
        """)
}
