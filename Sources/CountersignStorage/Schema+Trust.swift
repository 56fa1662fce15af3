/// The fourth step of the schema: third parties, and the devices that users have confirmed.
extension Schema {
    static func fourth(_ dialect: SQLDialect) -> [String] {
        let integer = dialect.integer
        return [
            "ALTER TABLE clients ADD COLUMN third_party \(integer) NOT NULL DEFAULT 0",
            "ALTER TABLE enrollments ADD COLUMN confirmed_at \(integer)",
            "ALTER TABLE enrollments ADD COLUMN third_party \(integer) NOT NULL DEFAULT 0",
            "ALTER TABLE left_behind ADD COLUMN believed_in TEXT",
            "ALTER TABLE identifiers ADD COLUMN proved_at \(integer)",
        ]
    }
}
