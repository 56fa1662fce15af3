import CountersignCore

/// The schema, built step by step.
///
/// Steps are numbered, run once and never change once released.
enum Migrations {
    private static let readVersion = SQLStatement("SELECT max(version) FROM schema_version")
    private static let recordVersion = SQLStatement("INSERT INTO schema_version (version) VALUES ($1)")

    /// Brings a database to the newest schema.
    ///
    /// A database that is newer than this program is refused.
    ///
    /// - Parameters:
    ///   - engine: the database.
    ///   - migrates: whether an older schema is brought to the newest one; otherwise it is refused.
    static func run(on engine: some SQLEngine, migrates: Bool = true) async throws {
        let steps = steps(engine.dialect)
        let options = engine.dialect.tableOptions
        let integer = engine.dialect.integer
        try await engine.write { connection in
            try connection.execute(
                SQLStatement("CREATE TABLE IF NOT EXISTS schema_version (version \(integer) PRIMARY KEY) \(options)"),
                [])
            let current = Int(try connection.rows(readVersion, []).first?.optionalInteger(0) ?? 0)
            guard current <= steps.count else {
                throw StoreError.engine(
                    "the database has schema \(current), this program knows \(steps.count): use a newer program")
            }
            guard migrates || current == steps.count else {
                throw StoreError.engine(
                    "the database has schema \(current), this program needs \(steps.count): "
                        + "run `countersign admin migrate`")
            }
            for (index, statements) in steps.enumerated().dropFirst(current) {
                for statement in statements { try connection.execute(SQLStatement(statement), []) }
                try connection.execute(recordVersion, [.integer(Int64(index + 1))])
            }
            return ((), changes: [])
        }
    }

    /// The schema that a database has.
    static func version(of engine: some SQLEngine) async throws -> Int {
        try await engine.read { Int(try $0.rows(readVersion, []).first?.optionalInteger(0) ?? 0) }
    }

    private static func steps(_ dialect: SQLDialect) -> [[String]] {
        [
            first(dialect), delivery(dialect), locks(dialect), methods(dialect), questions(dialect),
            authenticators(dialect), seventh(dialect),
        ]
    }

    /// What clients judge themselves, which devices answer by it, and what their hooks have said; how often a question
    /// may be answered wrongly, and where its device returns to; where clients are told of their users' devices.
    private static func authenticators(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE clients ADD COLUMN authenticators TEXT", "ALTER TABLE enrollments ADD COLUMN customs TEXT",
            "ALTER TABLE answers ADD COLUMN custom \(dialect.blob)",
            "ALTER TABLE challenges ADD COLUMN attempts \(dialect.integer)",
            "ALTER TABLE clients ADD COLUMN notice_uri TEXT", "ALTER TABLE clients ADD COLUMN return_uris TEXT",
            "ALTER TABLE challenges ADD COLUMN return_uri TEXT",
        ]
    }

    /// Challenges that are asked of whoever presents their code, those that a new device waits for; what
    /// decides that a user is not asked, or enrolls nothing.
    private static func questions(_ dialect: SQLDialect) -> [String] {
        let indexes = [
            "CREATE INDEX challenges_asks ON challenges (user_id, client_id, asked_at)",
            "CREATE INDEX challenges_open ON challenges (user_id) WHERE state = 'pending'",
        ]
        let optionalUser =
            dialect.altersColumns
            ? ["ALTER TABLE challenges ALTER COLUMN user_id DROP NOT NULL"]
            : [
                "DROP INDEX challenges_asks", "DROP INDEX challenges_open",
                "ALTER TABLE challenges RENAME COLUMN user_id TO required_user_id",
                "ALTER TABLE challenges ADD COLUMN user_id TEXT REFERENCES users (id)",
                "UPDATE challenges SET user_id = required_user_id",
                "ALTER TABLE challenges DROP COLUMN required_user_id",
            ] + indexes
        return optionalUser + [
            "ALTER TABLE challenges ADD COLUMN is_qr \(dialect.integer) NOT NULL DEFAULT 0",
            "ALTER TABLE challenges ADD COLUMN claimed_at \(dialect.integer)",
            """
            CREATE INDEX challenges_unclaimed ON challenges (ended_at) WHERE is_qr = 1 AND claimed_at IS NULL
            """,
            "ALTER TABLE challenges ADD COLUMN new_device_id TEXT", "ALTER TABLE enrollments ADD COLUMN awaits TEXT",
            "ALTER TABLE enrollments ADD COLUMN waits_until \(dialect.integer)",
            "ALTER TABLE clients ADD COLUMN cooling_off \(dialect.integer) NOT NULL DEFAULT 86400",
            "ALTER TABLE user_links ADD COLUMN enrollment_blocked \(dialect.integer) NOT NULL DEFAULT 0",
            "ALTER TABLE challenges ADD COLUMN browser \(dialect.blob)",
            """
            CREATE TABLE known_browsers (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL REFERENCES clients (id),
              browser \(dialect.blob) NOT NULL, approved_at \(dialect.integer) NOT NULL,
              PRIMARY KEY (user_id, client_id, browser)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX known_browsers_age ON known_browsers (approved_at)",
        ]
    }

    /// The PINs and biometrics of devices, and the rules for PINs.
    private static func methods(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE clients ADD COLUMN pin_policy TEXT", "ALTER TABLE clients ADD COLUMN device_limit TEXT",
            "ALTER TABLE enrollments ADD COLUMN pin_key \(dialect.blob)",
            "ALTER TABLE enrollments ADD COLUMN biometric_key \(dialect.blob)",
            "ALTER TABLE enrollments ADD COLUMN wrong_pins \(dialect.integer) NOT NULL DEFAULT 0",
            "ALTER TABLE enrollments ADD COLUMN pin_locked_at \(dialect.integer)",
        ]
    }

    /// Which client may not ask which user, by the question that was reported.
    private static func locks(_ dialect: SQLDialect) -> [String] {
        [
            """
            CREATE TABLE asking_locks (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL REFERENCES clients (id),
              challenge_id TEXT NOT NULL UNIQUE, since \(dialect.integer) NOT NULL, PRIMARY KEY (user_id, client_id)
            ) \(dialect.tableOptions)
            """
        ]
    }

    /// Where devices are reached by push, and how far pushes have come; what callbacks are sent with.
    private static func delivery(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE enrollments ADD COLUMN push TEXT",
            "ALTER TABLE enrollments ADD COLUMN push_token \(dialect.blob)",
            "ALTER TABLE challenge_targets ADD COLUMN push_state TEXT",
            "ALTER TABLE challenge_targets ADD COLUMN push_reason TEXT",
            "ALTER TABLE challenge_targets ADD COLUMN push_at \(dialect.integer)",
            "CREATE INDEX outbox_dead ON outbox (expires_at) WHERE state = 'dead'",
            "CREATE INDEX outbox_dead_content ON outbox (expires_at) WHERE state = 'dead' AND payload IS NOT NULL",
            """
            CREATE TABLE provider_tokens (
              name TEXT PRIMARY KEY, sealed \(dialect.blob) NOT NULL, issued_at \(dialect.integer) NOT NULL
            ) \(dialect.tableOptions)
            """,
            "DROP INDEX outbox_due",
            "CREATE INDEX outbox_next ON outbox (kind, due_at) WHERE state = 'waiting'",
            "CREATE INDEX outbox_dead_list ON outbox (id) WHERE state = 'dead'",
            "ALTER TABLE clients ADD COLUMN earlier_callback_secret \(dialect.blob)",
            "ALTER TABLE clients ADD COLUMN earlier_until \(dialect.integer)",
            "ALTER TABLE clients ADD COLUMN callback_username TEXT",
            "ALTER TABLE clients ADD COLUMN callback_password \(dialect.blob)",
            """
            CREATE TABLE gone_receivers (
              client_id TEXT NOT NULL REFERENCES clients (id), uri TEXT NOT NULL, answers \(dialect.integer) NOT NULL,
              since \(dialect.integer) NOT NULL, is_gone \(dialect.integer) NOT NULL, PRIMARY KEY (client_id, uri)
            ) \(dialect.tableOptions)
            """,
        ]
    }

    private static func first(_ dialect: SQLDialect) -> [String] {
        let integer = dialect.integer
        let blob = dialect.blob
        let options = dialect.tableOptions
        return [
            """
            CREATE TABLE secrets (
              name TEXT PRIMARY KEY, sealed \(blob) NOT NULL, certificate \(blob)
            ) \(options)
            """,
            """
            CREATE TABLE clients (
              id TEXT PRIMARY KEY, name TEXT NOT NULL, secret_hash \(blob), callback_secret \(blob),
              rights TEXT NOT NULL, callback_uris TEXT NOT NULL, waives_approval \(integer) NOT NULL,
              is_operator \(integer) NOT NULL, created_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE UNIQUE INDEX clients_operator ON clients (is_operator) WHERE is_operator = 1",
            """
            CREATE TABLE bootstrap_tokens (
              slot \(integer) PRIMARY KEY, hash \(blob) NOT NULL, expires_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE TABLE challenge_types (name TEXT PRIMARY KEY, settings TEXT NOT NULL) \(options)",
            """
            CREATE TABLE users (
              id TEXT PRIMARY KEY, created_at \(integer) NOT NULL, deleted_at \(integer)
            ) \(options)
            """,
            """
            CREATE TABLE user_links (
              client_id TEXT NOT NULL REFERENCES clients (id), user_id TEXT NOT NULL REFERENCES users (id),
              external_id TEXT, PRIMARY KEY (client_id, user_id), UNIQUE (client_id, external_id)
            ) \(options)
            """,
            "CREATE INDEX user_links_user ON user_links (user_id)",
            """
            CREATE TABLE tickets (
              hash \(blob) PRIMARY KEY, user_id TEXT NOT NULL, client_id TEXT NOT NULL, enrollment_id TEXT NOT NULL,
              waives_approval \(integer) NOT NULL, expires_at \(integer) NOT NULL, spent_at \(integer)
            ) \(options)
            """,
            "CREATE INDEX tickets_expiry ON tickets (expires_at)",
            """
            CREATE TABLE enrollments (
              id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL,
              removed_at \(integer), removal_reason TEXT, fingerprint \(blob) NOT NULL UNIQUE,
              primary_key \(blob) NOT NULL, authentication_key \(blob) NOT NULL, encryption_key \(blob) NOT NULL,
              certificate \(blob) NOT NULL, device TEXT NOT NULL, created_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE INDEX enrollments_user ON enrollments (user_id)",
            """
            CREATE TABLE nonces (
              key_id TEXT NOT NULL, nonce TEXT NOT NULL, expires_at \(integer) NOT NULL, PRIMARY KEY (key_id, nonce)
            ) \(options)
            """,
            "CREATE INDEX nonces_expiry ON nonces (expires_at)",
            """
            CREATE TABLE challenges (
              id TEXT PRIMARY KEY, client_id TEXT NOT NULL REFERENCES clients (id), client_name TEXT NOT NULL,
              user_id TEXT NOT NULL REFERENCES users (id), type TEXT NOT NULL, nonce \(blob) NOT NULL, context TEXT,
              asked_at \(integer) NOT NULL, details TEXT NOT NULL, signing_data TEXT, message TEXT NOT NULL,
              alert TEXT NOT NULL, methods TEXT NOT NULL, number_hash \(blob), expires_at \(integer) NOT NULL,
              callback_uri TEXT, client_state TEXT, locale TEXT, state TEXT NOT NULL, reason TEXT, method TEXT,
              decided_by TEXT, ended_at \(integer)
            ) \(options)
            """,
            "CREATE INDEX challenges_asks ON challenges (user_id, client_id, asked_at)",
            "CREATE INDEX challenges_open ON challenges (user_id) WHERE state = 'pending'",
            "CREATE INDEX challenges_overdue ON challenges (expires_at) WHERE state = 'pending'",
            """
            CREATE TABLE challenge_targets (
              challenge_id TEXT NOT NULL REFERENCES challenges (id), enrollment_id TEXT NOT NULL,
              fetched_at \(integer), PRIMARY KEY (challenge_id, enrollment_id)
            ) \(options)
            """,
            """
            CREATE TABLE receipts (
              challenge_id TEXT PRIMARY KEY REFERENCES challenges (id), enrollment_id TEXT NOT NULL,
              text TEXT NOT NULL, signature \(blob) NOT NULL, certificate \(blob) NOT NULL,
              accepted_at \(integer) NOT NULL
            ) \(options)
            """,
            """
            CREATE TABLE answers (
              enrollment_id TEXT NOT NULL, digest \(blob) NOT NULL, challenge_id TEXT NOT NULL, state TEXT NOT NULL,
              reason TEXT, answered_at \(integer) NOT NULL, PRIMARY KEY (enrollment_id, digest)
            ) \(options)
            """,
            "CREATE INDEX answers_age ON answers (answered_at)",
            """
            CREATE TABLE replies (
              scope TEXT NOT NULL, key TEXT NOT NULL, request_digest \(blob) NOT NULL, status \(integer) NOT NULL,
              body \(blob) NOT NULL, created_at \(integer) NOT NULL, PRIMARY KEY (scope, key)
            ) \(options)
            """,
            "CREATE INDEX replies_age ON replies (created_at)",
            """
            CREATE TABLE audit (
              place \(dialect.sequence), id TEXT NOT NULL, at \(integer) NOT NULL, kind TEXT NOT NULL, client_id TEXT,
              user_id TEXT, enrollment_id TEXT, challenge_id TEXT, detail TEXT NOT NULL
            ) \(options)
            """,
            """
            CREATE TABLE outbox (
              id TEXT PRIMARY KEY, kind TEXT NOT NULL, client_id TEXT NOT NULL, payload \(blob),
              due_at \(integer) NOT NULL, expires_at \(integer) NOT NULL, attempts \(integer) NOT NULL,
              state TEXT NOT NULL, last_error TEXT, delivered_at \(integer)
            ) \(options)
            """,
            "CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'waiting'",
            "CREATE INDEX outbox_delivered ON outbox (delivered_at) WHERE state = 'delivered'",
            """
            CREATE TABLE attempts (
              key TEXT PRIMARY KEY, count \(integer) NOT NULL, window_ends_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE INDEX attempts_expiry ON attempts (window_ends_at)",
        ]
    }
}
