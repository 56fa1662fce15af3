import CountersignCore

/// What the tables of a PostgreSQL database hold at one moment.
struct PostgresRows {
    /// What only the engine uses, for moments: a copy has none of it.
    static let left = ["commits", "turns"]

    private static let tables = SQLStatement(
        """
        SELECT c.relname::text, format('%I.%I', n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname = current_schema() ORDER BY 1
        """)

    /// The tables as SQL names them, by their own names.
    let names: [String: String]
    /// How many rows each has.
    let counts: [String: Int]

    /// Counts the rows of every table, in a transaction.
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

    /// Begins a transaction that sees one moment and may last for hours.
    func beginSnapshot() throws(PostgresFailure) {
        try run([Self.unhurry])
        try begin(Self.beginSnapshot)
    }
}
