/// The ninth step of the schema: the codes that clients' servers bring to have people's devices asked.
extension Schema {
    static func ninth(_ dialect: SQLDialect) -> [String] {
        ["ALTER TABLE users ADD COLUMN user_code \(dialect.blob)"]
    }
}
