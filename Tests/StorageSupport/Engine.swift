package import CountersignCore

/// The databases that must keep the same promises; tests of the storage contract run on each.
package enum Engine: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The embedded database.
    case sqlite
    /// PostgreSQL, where `COUNTERSIGN_TEST_POSTGRES` says where one is; scripts/with-postgres starts one.
    case postgresql

    /// The one engine; scripts/test runs the tests once for each.
    package static var allCases: [Engine] { [chosen] }
    /// The engine that this run of the tests is about.
    package static var chosen: Engine { PostgresDatabase.server == nil ? .sqlite : .postgresql }

    /// What the engine says when some columns, such as `answers.enrollment_id, answers.digest`, are not unique.
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

    /// A statement in SQLite's words, as this engine reads it.
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
