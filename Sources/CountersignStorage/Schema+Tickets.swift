/// The sixth step of the schema: which tokens a ticket follows from.
extension Schema {
    static func sixth(_ dialect: SQLDialect) -> [String] {
        ["ALTER TABLE tickets ADD COLUMN family_id TEXT"]
    }
}
