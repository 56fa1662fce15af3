import CountersignCore

/// Creates and upgrades the schema in numbered steps.
///
/// Each step runs once, and never changes: before another is added, `scripts/make-stored-database` keeps a database as
/// it was, which the tests have every later program take on.
package enum Migrations {
    /// The SQL statements of each step in an engine's dialect.
    package static func steps(_ dialect: SQLDialect) -> [[String]] {
        [
            Schema.first(dialect), Schema.second(dialect), Schema.third(dialect), Schema.fourth(dialect),
            Schema.fifth(dialect), Schema.sixth(dialect), Schema.seventh(dialect), Schema.eighth(dialect),
            Schema.ninth(dialect), Schema.tenth(dialect),
        ]
    }

    /// The number of the newest schema, which is also how many steps there are.
    package static let newest = steps(.sqlite).count

    private static let readVersion = SQLStatement("SELECT max(version) FROM schema_version")
    private static let recordVersion = SQLStatement("INSERT INTO schema_version (version) VALUES ($1)")

    /// Upgrades a database to the newest schema.
    ///
    /// - Parameters:
    ///   - engine: the database.
    ///   - migrates: whether to upgrade an older schema; if not, an older schema is an error.
    ///   - steps: the steps.
    /// - Throws: ``StoreError/engine(_:)`` when the schema is newer than this program, or older and `migrates` is
    ///   false.
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

    /// The version of a database's schema.
    static func version(of engine: some SQLEngine) async throws -> Int {
        try await engine.read { Int(try $0.rows(readVersion, []).first?.optionalInteger(0) ?? 0) }
    }
}
