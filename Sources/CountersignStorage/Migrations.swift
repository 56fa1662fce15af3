import CountersignCore

/// The schema, built step by step.
///
/// Steps are numbered, run once and never change once released.
package enum Migrations {
    /// Each step's statements, in the words of an engine.
    package static func steps(_ dialect: SQLDialect) -> [[String]] { [Schema.first(dialect)] }

    private static let readVersion = SQLStatement("SELECT max(version) FROM schema_version")
    private static let recordVersion = SQLStatement("INSERT INTO schema_version (version) VALUES ($1)")

    /// Brings a database to the newest schema.
    ///
    /// A database that is newer than this program is refused.
    ///
    /// - Parameters:
    ///   - engine: the database.
    ///   - migrates: whether an older schema is brought to the newest one; otherwise it is refused.
    ///   - steps: the steps that there are.
    package static func run(
        on engine: some SQLEngine, migrates: Bool = true, steps: (SQLDialect) -> [[String]] = Migrations.steps
    ) async throws {
        let steps = steps(engine.dialect)
        let options = engine.dialect.tableOptions
        let integer = engine.dialect.integer
        try await engine.write { connection in
            try connection.execute(
                SQLStatement("CREATE TABLE IF NOT EXISTS schema_version (version \(integer) PRIMARY KEY) \(options)"),
                [])
            let current = Int(try connection.rows(readVersion, []).first?.optionalInteger(0) ?? 0)
            guard current <= steps.count else {
                throw StoreError.engine(
                    "the database has schema \(current), this program knows \(steps.count): use a newer program")
            }
            guard migrates || current == steps.count else {
                throw StoreError.engine(
                    "the database has schema \(current), this program needs \(steps.count): "
                        + "run `countersign admin migrate`")
            }
            for (index, statements) in steps.enumerated().dropFirst(current) {
                for statement in statements { try connection.execute(SQLStatement(statement), []) }
                try connection.execute(recordVersion, [.integer(Int64(index + 1))])
            }
            return ((), changes: [])
        }
    }

    /// The schema that a database has.
    static func version(of engine: some SQLEngine) async throws -> Int {
        try await engine.read { Int(try $0.rows(readVersion, []).first?.optionalInteger(0) ?? 0) }
    }
}
