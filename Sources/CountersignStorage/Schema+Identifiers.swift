/// The third step of the schema: the addresses of users, and sign-ins without a device.
extension Schema {
    static func third(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        return [
            """
            CREATE TABLE identifiers (
              id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), kind TEXT NOT NULL,
              name \(blob) NOT NULL, sealed \(blob) NOT NULL, client_id TEXT REFERENCES clients (id),
              added_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE UNIQUE INDEX identifiers_verified ON identifiers (kind, name) WHERE client_id IS NULL",
            "CREATE UNIQUE INDEX identifiers_claimed ON identifiers (client_id, kind, name) WHERE client_id IS NOT NULL",
            "CREATE INDEX identifiers_name ON identifiers (kind, name) WHERE client_id IS NOT NULL",
            "CREATE INDEX identifiers_user ON identifiers (user_id)",
            "ALTER TABLE authorizations ADD COLUMN ask_verification_id TEXT",
        ] + locks(dialect) + sessions(dialect) + families(dialect)
    }

    /// Keeps older nodes from writing to what is copied: the end of a session would be lost.
    private static func locks(_ dialect: SQLDialect) -> [String] {
        dialect.locksRows ? ["LOCK TABLE sessions, token_families IN ACCESS EXCLUSIVE MODE"] : []
    }

    /// The tables anew, since a column may be empty from now on.
    private static func sessions(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let columns =
            "id, secret_hash, user_id, enrollment_id, authentication, created_at, idle_until, expires_at, ended_at"
        return [
            """
            CREATE TABLE sessions_anew (
              id TEXT PRIMARY KEY, secret_hash \(blob) NOT NULL UNIQUE, user_id TEXT NOT NULL, enrollment_id TEXT,
              authentication TEXT NOT NULL, created_at \(integer) NOT NULL, idle_until \(integer) NOT NULL,
              expires_at \(integer) NOT NULL, ended_at \(integer)
            ) \(options)
            """,
            "INSERT INTO sessions_anew (\(columns)) SELECT \(columns) FROM sessions",
            "DROP TABLE sessions",
            "ALTER TABLE sessions_anew RENAME TO sessions",
            "CREATE INDEX sessions_user ON sessions (user_id)",
            "CREATE INDEX sessions_expiry ON sessions (expires_at)",
        ]
    }

    private static func families(_ dialect: SQLDialect) -> [String] {
        let (integer, options) = (dialect.integer, dialect.tableOptions)
        let columns = """
            id, client_id, user_id, session_id, enrollment_id, sid, scopes, authentication, offline, generation,
            rotated_at, idle_until, created_at, expires_at, ended_at, reason
            """
        return [
            """
            CREATE TABLE token_families_anew (
              id TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
              enrollment_id TEXT, sid TEXT NOT NULL, scopes TEXT NOT NULL, authentication TEXT NOT NULL,
              offline \(integer) NOT NULL, generation \(integer) NOT NULL, rotated_at \(integer),
              idle_until \(integer) NOT NULL, created_at \(integer) NOT NULL, expires_at \(integer) NOT NULL,
              ended_at \(integer), reason TEXT
            ) \(options)
            """,
            "INSERT INTO token_families_anew (\(columns)) SELECT \(columns) FROM token_families",
            "DROP TABLE token_families",
            "ALTER TABLE token_families_anew RENAME TO token_families",
            "CREATE INDEX token_families_user ON token_families (user_id)",
            "CREATE INDEX token_families_session ON token_families (session_id)",
            "CREATE INDEX token_families_expiry ON token_families (expires_at)",
        ]
    }
}
