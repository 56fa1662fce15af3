/// The eighth step of the schema: APIs that take tokens of ours, tokens for them, and what clients say of users for
/// themselves.
extension Schema {
    static func eighth(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE relying_parties ADD COLUMN resource TEXT",
            "CREATE UNIQUE INDEX relying_parties_resource ON relying_parties (resource) WHERE resource IS NOT NULL",
            "ALTER TABLE token_families ADD COLUMN resources TEXT",
            "ALTER TABLE user_links ADD COLUMN claims \(dialect.blob)",
        ]
    }
}
