package import CountersignCore

/// The database engines; the tests of the storage contract run on each.
package enum Engine: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The embedded database.
    case sqlite
    /// The PostgreSQL server that `COUNTERSIGN_TEST_POSTGRES` names; scripts/with-postgres starts one.
    case postgresql

    /// The engine of this run; scripts/test runs the tests once for each engine.
    package static var allCases: [Engine] { [chosen] }
    package static var chosen: Engine { PostgresDatabase.server == nil ? .sqlite : .postgresql }

    /// The engine's error if columns, such as `answers.enrollment_id, answers.digest`, are not unique.
    package func uniqueViolation(of columns: String) -> StoreError {
        switch self {
        case .sqlite: return .uniqueViolation("UNIQUE constraint failed: \(columns)")
        case .postgresql:
            let named = [
                "clients.is_operator": "clients_operator", "enrollments.fingerprint": "enrollments_fingerprint_key",
            ]
            return .uniqueViolation(named[columns] ?? "\(columns.prefix { $0 != "." })_pkey")
        }
    }

    /// Translates a statement from SQLite's dialect to this engine's.
    func spelled(_ text: String) -> String {
        switch self {
        case .sqlite: text
        case .postgresql:
            text.replacing(#/x'([0-9a-f]*)'/#) { "'\\x\($0.1)'::bytea" }.replacing("AS BLOB)", with: "AS BYTEA)")
                .replacing("char(", with: "chr(")
        }
    }

    /// The engine's name, for a failing test.
    package var description: String { rawValue }
}
