import CountersignCore

/// The tables of a PostgreSQL database and their row counts at one moment.
struct PostgresRows {
    /// The engine's own short-lived tables, whose rows are not copied.
    static let left = ["commits", "turns"]

    private static let tables = SQLStatement(
        """
        SELECT c.relname::text, format('%I.%I', n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname = current_schema() ORDER BY 1
        """)

    /// The tables' qualified names, by their plain names.
    let names: [String: String]
    /// The number of rows of each table, by its plain name.
    let counts: [String: Int]

    /// Counts the rows of every table, within the current transaction.
    init(_ connection: PostgresConnection) throws {
        var names: [String: String] = [:]
        var counts: [String: Int] = [:]
        for row in try connection.rows(Self.tables, []) {
            let (name, full) = (try row.text(0), try row.text(1))
            guard !Self.left.contains(name) else { continue }
            let count = try connection.rows(SQLStatement("SELECT count(*) FROM \(full)"), []).first?.integer(0)
            names[name] = full
            counts[name] = Int(count ?? 0)
        }
        self.names = names
        self.counts = counts
    }
}

extension PostgresConnection {
    private static let unhurry = SQLStatement(
        """
        SELECT set_config('statement_timeout', '0', false), set_config('enable_seqscan', 'on', false),
        set_config('idle_in_transaction_session_timeout', '0', false)
        """)
    private static let beginSnapshot = SQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    /// Begins a transaction that sees one snapshot and may last for hours.
    func beginSnapshot() throws(PostgresFailure) {
        try run([Self.unhurry])
        try begin(Self.beginSnapshot)
    }
}
