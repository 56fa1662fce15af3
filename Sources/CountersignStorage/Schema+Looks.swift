/// The seventh step of the schema: what clients replace on their pages.
extension Schema {
    static func seventh(_ dialect: SQLDialect) -> [String] {
        let (integer, blob) = (dialect.integer, dialect.blob)
        return [
            // The logo comes last: whoever reads the other columns alone does not read its pages.
            """
            CREATE TABLE looks (
              client_id TEXT PRIMARY KEY REFERENCES clients (id), accent TEXT, accent_dark TEXT, logo_hash \(blob),
              logo_width \(integer), logo_height \(integer), logo \(blob)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX looks_logo ON looks (logo_hash) WHERE logo_hash IS NOT NULL",
        ]
    }
}
