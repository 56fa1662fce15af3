/// The tenth step of the schema: devices that have JWKs, each key of them once, and what is kept of their answers.
extension Schema {
    static func tenth(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE enrollments ADD COLUMN credential TEXT",
            """
            CREATE TABLE device_keys (
              thumbprint \(dialect.blob) PRIMARY KEY, enrollment_id TEXT NOT NULL REFERENCES enrollments (id)
            ) \(dialect.narrowTableOptions)
            """,
            "ALTER TABLE receipts ADD COLUMN kind TEXT",
        ]
    }
}
