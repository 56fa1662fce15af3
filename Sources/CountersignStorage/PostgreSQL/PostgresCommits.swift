import CountersignCore

/// The engine's own tables, which hold nothing of the product.
///
/// `commits` has a row for each recent transaction that wrote. By its number a commit whose reply was cut off is looked
/// up; by its topics the nodes learn of each other's changes, even when no notification reaches them. `turns` says
/// which node does what one node at a time does.
enum PostgresCommits {
    /// Any number, as long as every node uses the same.
    private static let lock = 4_711_001

    /// Nodes that start at the same time do it one after the other, each statement seeing what the one before made.
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
        // Rows lie in the order of their times, so the smallest of indexes does.
        "CREATE INDEX IF NOT EXISTS commits_age ON commits USING brin (at)",
        "CREATE TABLE IF NOT EXISTS turns (work TEXT PRIMARY KEY, node TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)",
    ].map { SQLStatement($0) }

    /// Fails for a number that was left before, after waiting for a transaction that is about to leave it.
    static let leave = SQLStatement("INSERT INTO commits (id, run, topics) VALUES ($1, $2, $3)")
    static let addNotices = SQLStatement("UPDATE commits SET topics = $2 WHERE id = $1")
    static let run = SQLStatement("SELECT run FROM commits WHERE id = $1")

    /// What was notified by transactions from a number on, and the number before which all have ended.
    static let news = SQLStatement(
        """
        SELECT now.oldest, c.xid, c.id, c.topics
        FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest) now
        LEFT JOIN commits c ON c.xid >= $1 AND c.topics <> ''
        """)
    /// For how long every node can be sure that nothing was swept.
    static let memory = Duration.seconds(300)
    /// Forgets what nobody can still ask for.
    static let sweep = SQLStatement("DELETE FROM commits WHERE at < now() - interval '10 minutes'")

    /// Takes or keeps a turn; no row when it is another node's.
    static let takeTurn = SQLStatement(
        """
        INSERT INTO turns (work, node, until) VALUES ($1, $2, now() + $3::bigint * interval '1 second')
        ON CONFLICT (work) DO UPDATE SET node = excluded.node, until = excluded.until
        WHERE turns.node = excluded.node OR turns.until < now() RETURNING node
        """)
}
