/// The fifth step of the schema: passkeys, the origins of pages that call from a browser, and which addresses users have
/// removed.
extension Schema {
    static func fifth(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        return [
            """
            CREATE TABLE passkeys (
              id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), credential \(blob) NOT NULL UNIQUE,
              public_key \(blob) NOT NULL, transports TEXT NOT NULL, backup_eligible \(integer) NOT NULL,
              backed_up \(integer) NOT NULL, sign_count \(integer) NOT NULL, name TEXT NOT NULL,
              created_at \(integer) NOT NULL, counts_from \(integer) NOT NULL, confirmed \(integer) NOT NULL,
              used_at \(integer), removed_until \(integer)
            ) \(options)
            """,
            "CREATE INDEX passkeys_user ON passkeys (user_id)",
            """
            CREATE TABLE allowed_origins (
              origin TEXT NOT NULL, client_id TEXT NOT NULL, PRIMARY KEY (origin, client_id)
            ) \(dialect.narrowTableOptions)
            """,
            "CREATE INDEX allowed_origins_client ON allowed_origins (client_id)",
            """
            CREATE TABLE removed_addresses (
              user_id TEXT NOT NULL REFERENCES users (id), kind TEXT NOT NULL, name \(blob) NOT NULL,
              removed_at \(integer) NOT NULL, PRIMARY KEY (user_id, kind, name)
            ) \(dialect.narrowTableOptions)
            """,
            "CREATE INDEX passkeys_removed ON passkeys (removed_until) WHERE removed_until IS NOT NULL",
        ]
    }
}
