/// The fourth step of the schema: third parties, what users have allowed them, and the devices that users have confirmed.
extension Schema {
    static func fourth(_ dialect: SQLDialect) -> [String] {
        let integer = dialect.integer
        return [
            "ALTER TABLE clients ADD COLUMN third_party \(integer) NOT NULL DEFAULT 0",
            "ALTER TABLE enrollments ADD COLUMN confirmed_at \(integer)",
            "ALTER TABLE enrollments ADD COLUMN third_party \(integer) NOT NULL DEFAULT 0",
            "ALTER TABLE left_behind ADD COLUMN believed_in TEXT",
            "ALTER TABLE identifiers ADD COLUMN proved_at \(integer)",
            // What people see and do on their account page.
            "ALTER TABLE relying_parties ADD COLUMN account \(integer) NOT NULL DEFAULT 0",
            "CREATE INDEX relying_parties_account ON relying_parties (account, client_id)",
            "ALTER TABLE sessions ADD COLUMN place \(dialect.blob)",
            "ALTER TABLE enrollments ADD COLUMN confirming_from \(integer)",
            """
            CREATE INDEX enrollments_confirming ON enrollments (confirming_from) WHERE confirming_from IS NOT NULL
            """,
            """
            CREATE TABLE grants (
              user_id TEXT NOT NULL, client_id TEXT NOT NULL, scopes TEXT NOT NULL, given_at \(integer) NOT NULL,
              PRIMARY KEY (user_id, client_id)
            ) \(dialect.narrowTableOptions)
            """,
        ]
    }
}
