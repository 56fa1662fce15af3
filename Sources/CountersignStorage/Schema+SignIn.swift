/// The second step of the schema: what signing in needs.
extension Schema {
    static func second(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            "ALTER TABLE challenges ADD COLUMN authorization_id TEXT",
            """
            CREATE TABLE relying_parties (
              client_id TEXT PRIMARY KEY REFERENCES clients (id), settings TEXT NOT NULL
            ) \(options)
            """,
            """
            CREATE TABLE authorizations (
              id TEXT PRIMARY KEY, client_id TEXT NOT NULL, wanted \(blob) NOT NULL, browser \(blob) NOT NULL,
              user_id TEXT, state TEXT NOT NULL, authentication TEXT, family_id TEXT, ask_number \(blob),
              ask_until \(integer), ask_challenge_id TEXT, ask_known \(integer), ask_declined \(integer),
              expires_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE INDEX authorizations_user ON authorizations (user_id)",
            "CREATE INDEX authorizations_expiry ON authorizations (expires_at)",
            """
            CREATE TABLE codes (
              hash \(blob) PRIMARY KEY, authorization_id TEXT NOT NULL, session_id TEXT NOT NULL,
              expires_at \(integer) NOT NULL, spent_at \(integer)
            ) \(narrow)
            """,
            "CREATE INDEX codes_expiry ON codes (expires_at)",
            """
            CREATE TABLE sessions (
              id TEXT PRIMARY KEY, secret_hash \(blob) NOT NULL UNIQUE, user_id TEXT NOT NULL,
              enrollment_id TEXT NOT NULL, authentication TEXT NOT NULL, created_at \(integer) NOT NULL,
              idle_until \(integer) NOT NULL, expires_at \(integer) NOT NULL, ended_at \(integer)
            ) \(options)
            """,
            "CREATE INDEX sessions_user ON sessions (user_id)",
            "CREATE INDEX sessions_expiry ON sessions (expires_at)",
            """
            CREATE TABLE session_clients (
              session_id TEXT NOT NULL, client_id TEXT NOT NULL, sid TEXT NOT NULL UNIQUE,
              PRIMARY KEY (session_id, client_id)
            ) \(narrow)
            """,
            """
            CREATE TABLE token_families (
              id TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
              enrollment_id TEXT NOT NULL, sid TEXT NOT NULL, scopes TEXT NOT NULL, authentication TEXT NOT NULL,
              offline \(integer) NOT NULL, generation \(integer) NOT NULL, rotated_at \(integer),
              idle_until \(integer) NOT NULL, created_at \(integer) NOT NULL, expires_at \(integer) NOT NULL,
              ended_at \(integer), reason TEXT
            ) \(options)
            """,
            "CREATE INDEX token_families_user ON token_families (user_id)",
            "CREATE INDEX token_families_session ON token_families (session_id)",
            "CREATE INDEX token_families_expiry ON token_families (expires_at)",
            "CREATE TABLE revoked_tokens (jti TEXT PRIMARY KEY, expires_at \(integer) NOT NULL) \(narrow)",
            "CREATE INDEX revoked_tokens_expiry ON revoked_tokens (expires_at)",
        ]
    }
}
