/// The first schema, grouped by subject; each table with its indexes.
enum Schema {
    static func first(_ dialect: SQLDialect) -> [String] {
        keys(dialect) + clients(dialect) + users(dialect) + enrollments(dialect) + methods(dialect)
            + challenges(dialect) + answers(dialect) + records(dialect)
    }

    private static func keys(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        return [
            "CREATE TABLE secrets (name TEXT PRIMARY KEY, sealed \(blob) NOT NULL, certificate \(blob)) \(options)",
            """
            CREATE TABLE signing_keys (
              id TEXT PRIMARY KEY, use TEXT NOT NULL, algorithm TEXT NOT NULL, state TEXT NOT NULL,
              created_at \(integer) NOT NULL, changes_at \(integer), compromised \(integer) NOT NULL,
              sealed \(blob) NOT NULL
            ) \(options)
            """,
            """
            CREATE TABLE provider_tokens (
              name TEXT PRIMARY KEY, sealed \(blob) NOT NULL, issued_at \(integer) NOT NULL
            ) \(options)
            """,
            """
            CREATE TABLE bootstrap_tokens (
              slot \(integer) PRIMARY KEY, hash \(blob) NOT NULL, expires_at \(integer) NOT NULL
            ) \(options)
            """,
        ]
    }

    /// Clients, their gone callback receivers, and challenge types.
    private static func clients(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE clients (
              id TEXT PRIMARY KEY, name TEXT NOT NULL, rights TEXT NOT NULL, is_operator \(integer) NOT NULL,
              created_at \(integer) NOT NULL, disabled_at \(integer), deleted_at \(integer),
              secret_hash \(blob), earlier_secret_hash \(blob), earlier_secret_until \(integer),
              callback_secret \(blob), earlier_callback_secret \(blob), earlier_until \(integer),
              callback_uris TEXT NOT NULL, callback_username TEXT, callback_password \(blob),
              notice_uri TEXT, return_uris TEXT, authenticators TEXT, pin_policy TEXT, device_limit TEXT,
              waives_approval \(integer) NOT NULL, cooling_off \(integer) NOT NULL DEFAULT 86400
            ) \(options)
            """,
            "CREATE UNIQUE INDEX clients_operator ON clients (is_operator) WHERE is_operator = 1",
            """
            CREATE TABLE gone_receivers (
              client_id TEXT NOT NULL REFERENCES clients (id), uri TEXT NOT NULL, answers \(integer) NOT NULL,
              since \(integer) NOT NULL, is_gone \(integer) NOT NULL, PRIMARY KEY (client_id, uri)
            ) \(narrow)
            """,
            "CREATE TABLE challenge_types (name TEXT PRIMARY KEY, settings TEXT NOT NULL) \(options)",
        ]
    }

    /// Users, their links to clients, the cooling-off periods of ended links, and pending erasures.
    private static func users(_ dialect: SQLDialect) -> [String] {
        let (integer, options) = (dialect.integer, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE users (
              id TEXT PRIMARY KEY, created_at \(integer) NOT NULL, deleted_at \(integer)
            ) \(options)
            """,
            """
            CREATE TABLE user_links (
              client_id TEXT NOT NULL REFERENCES clients (id), user_id TEXT NOT NULL REFERENCES users (id),
              external_id TEXT, enrollment_blocked \(integer) NOT NULL DEFAULT 0, PRIMARY KEY (client_id, user_id),
              UNIQUE (client_id, external_id)
            ) \(narrow)
            """,
            "CREATE INDEX user_links_user ON user_links (user_id)",
            """
            CREATE TABLE ended_links (
              user_id TEXT NOT NULL, client_id TEXT NOT NULL, cooling_off \(integer) NOT NULL,
              until \(integer) NOT NULL, PRIMARY KEY (user_id, client_id)
            ) \(narrow)
            """,
            "CREATE INDEX ended_links_until ON ended_links (until)",
            """
            CREATE TABLE erasures (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL, since \(integer) NOT NULL,
              PRIMARY KEY (user_id, client_id)
            ) \(narrow)
            """,
        ]
    }

    /// Devices: tickets, enrollments, and what removed enrollments leave behind.
    private static func enrollments(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE tickets (
              hash \(blob) PRIMARY KEY, user_id TEXT NOT NULL, client_id TEXT NOT NULL, enrollment_id TEXT NOT NULL,
              waives_approval \(integer) NOT NULL, expires_at \(integer) NOT NULL, spent_at \(integer)
            ) \(narrow)
            """,
            "CREATE INDEX tickets_expiry ON tickets (expires_at)",
            """
            CREATE TABLE enrollments (
              id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL,
              created_at \(integer) NOT NULL, awaits TEXT, counts_from \(integer), suspended_at \(integer),
              removed_at \(integer), removal_reason TEXT, fingerprint \(blob) NOT NULL UNIQUE,
              primary_key \(blob) NOT NULL, authentication_key \(blob) NOT NULL, encryption_key \(blob) NOT NULL,
              certificate \(blob) NOT NULL, device TEXT NOT NULL, versions TEXT NOT NULL DEFAULT '1', push TEXT,
              push_token \(blob), methods_count \(integer) NOT NULL DEFAULT 0,
              pin_key \(blob), pin_counts_from \(integer), wrong_pins \(integer) NOT NULL DEFAULT 0,
              pin_locked_at \(integer), biometric_key \(blob), biometric_counts_from \(integer), customs TEXT
            ) \(options)
            """,
            "CREATE INDEX enrollments_user ON enrollments (user_id, id)",
            """
            CREATE TABLE left_behind (
              subject TEXT NOT NULL, enrollment_id TEXT NOT NULL, client_id TEXT NOT NULL, until \(integer) NOT NULL,
              had_method \(integer) NOT NULL, PRIMARY KEY (subject, enrollment_id)
            ) \(narrow)
            """,
            "CREATE INDEX left_behind_until ON left_behind (until)",
        ]
    }

    /// Methods that do not count yet, and the nonces of devices' requests.
    private static func methods(_ dialect: SQLDialect) -> [String] {
        let integer = dialect.integer
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE waits (
              enrollment_id TEXT NOT NULL REFERENCES enrollments (id), method TEXT NOT NULL, until \(integer) NOT NULL,
              PRIMARY KEY (enrollment_id, method)
            ) \(narrow)
            """,
            "CREATE INDEX waits_until ON waits (until)",
            """
            CREATE TABLE nonces (
              key_id TEXT NOT NULL, nonce TEXT NOT NULL, expires_at \(integer) NOT NULL, PRIMARY KEY (key_id, nonce)
            ) \(narrow)
            """,
            "CREATE INDEX nonces_expiry ON nonces (expires_at)",
        ]
    }

    /// Challenges and their target devices, locks against asking, and known browsers.
    private static func challenges(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE challenges (
              id TEXT PRIMARY KEY, client_id TEXT NOT NULL REFERENCES clients (id), client_name TEXT NOT NULL,
              user_id TEXT REFERENCES users (id), type TEXT NOT NULL, nonce \(blob) NOT NULL, context TEXT,
              asked_at \(integer) NOT NULL, details TEXT NOT NULL, signing_data TEXT, message TEXT NOT NULL,
              alert TEXT NOT NULL, methods TEXT NOT NULL, number_hash \(blob), attempts \(integer),
              expires_at \(integer) NOT NULL, channel TEXT NOT NULL, claimed_at \(integer), browser \(blob),
              purpose TEXT NOT NULL, new_device_id TEXT, callback_uri TEXT, return_uri TEXT, client_state TEXT, locale TEXT,
              state TEXT NOT NULL, reason TEXT, method TEXT, decided_by TEXT, ended_at \(integer)
            ) \(options)
            """,
            // In an empty database, several indexes cost the same, and PostgreSQL then chooses by the order in which
            // they were created.
            "CREATE INDEX challenges_asks ON challenges (user_id, client_id, asked_at)",
            "CREATE INDEX challenges_open ON challenges (user_id) WHERE state = 'pending'",
            "CREATE INDEX challenges_overdue ON challenges (expires_at) WHERE state = 'pending'",
            "CREATE INDEX challenges_unclaimed ON challenges (ended_at) WHERE channel = 'code' AND claimed_at IS NULL",
            "CREATE INDEX challenges_client ON challenges (client_id, id)",
            """
            CREATE TABLE challenge_targets (
              challenge_id TEXT NOT NULL REFERENCES challenges (id), enrollment_id TEXT NOT NULL,
              fetched_at \(integer), push_state TEXT, push_reason TEXT, push_at \(integer),
              PRIMARY KEY (challenge_id, enrollment_id)
            ) \(narrow)
            """,
            """
            CREATE TABLE asking_locks (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL REFERENCES clients (id),
              challenge_id TEXT NOT NULL UNIQUE, since \(integer) NOT NULL, PRIMARY KEY (user_id, client_id)
            ) \(narrow)
            """,
            """
            CREATE TABLE known_browsers (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL REFERENCES clients (id),
              browser \(blob) NOT NULL, approved_at \(integer) NOT NULL, PRIMARY KEY (user_id, client_id, browser)
            ) \(narrow)
            """,
            "CREATE INDEX known_browsers_age ON known_browsers (approved_at)",
        ]
    }

    /// Answers of devices, and receipts.
    ///
    /// A receipt may be kept longer than its challenge, so it has no foreign key to it.
    private static func answers(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE answers (
              enrollment_id TEXT NOT NULL, digest \(blob) NOT NULL, challenge_id TEXT NOT NULL, state TEXT NOT NULL,
              reason TEXT, custom \(blob), answered_at \(integer) NOT NULL, PRIMARY KEY (enrollment_id, digest)
            ) \(narrow)
            """,
            "CREATE INDEX answers_age ON answers (answered_at)",
            """
            CREATE TABLE receipts (
              challenge_id TEXT PRIMARY KEY, client_id TEXT NOT NULL, enrollment_id TEXT NOT NULL, text TEXT NOT NULL,
              signature \(blob) NOT NULL, certificate \(blob) NOT NULL, accepted_at \(integer) NOT NULL
            ) \(options)
            """,
            "CREATE INDEX receipts_device ON receipts (enrollment_id, challenge_id)",
        ]
    }

    /// Tables that belong to no aggregate: replies to repeated requests, limits, the outbox and the audit.
    private static func records(_ dialect: SQLDialect) -> [String] {
        let (integer, blob, options) = (dialect.integer, dialect.blob, dialect.tableOptions)
        let narrow = dialect.narrowTableOptions
        return [
            """
            CREATE TABLE replies (
              scope TEXT NOT NULL, key TEXT NOT NULL, request_digest \(blob) NOT NULL, body \(blob) NOT NULL,
              created_at \(integer) NOT NULL, PRIMARY KEY (scope, key)
            ) \(options)
            """,
            "CREATE INDEX replies_age ON replies (created_at)",
            """
            CREATE TABLE attempts (
              key TEXT PRIMARY KEY, count \(integer) NOT NULL, window_ends_at \(integer) NOT NULL
            ) \(narrow)
            """,
            "CREATE INDEX attempts_expiry ON attempts (window_ends_at)",
            """
            CREATE TABLE outbox (
              id TEXT PRIMARY KEY, kind TEXT NOT NULL, client_id TEXT NOT NULL, lane TEXT NOT NULL DEFAULT '',
              payload \(blob), due_at \(integer) NOT NULL, expires_at \(integer) NOT NULL,
              attempts \(integer) NOT NULL, state TEXT NOT NULL, last_error TEXT, delivered_at \(integer)
            ) \(options)
            """,
            "CREATE INDEX outbox_delivered ON outbox (delivered_at) WHERE state = 'delivered'",
            "CREATE INDEX outbox_dead ON outbox (expires_at) WHERE state = 'dead'",
            "CREATE INDEX outbox_dead_content ON outbox (expires_at) WHERE state = 'dead' AND payload IS NOT NULL",
            "CREATE INDEX outbox_next ON outbox (kind, due_at) WHERE state = 'waiting'",
            "CREATE INDEX outbox_dead_list ON outbox (id) WHERE state = 'dead'",
            "CREATE INDEX outbox_lanes ON outbox (kind, lane, due_at) WHERE state = 'waiting'",
            """
            CREATE TABLE audit (
              sequence \(dialect.sequence), id TEXT NOT NULL, at \(integer) NOT NULL, kind TEXT NOT NULL,
              actor TEXT NOT NULL, client_id TEXT, user_id TEXT, enrollment_id TEXT, challenge_id TEXT, detail TEXT NOT NULL
            ) \(options)
            """,
            "CREATE INDEX audit_user ON audit (user_id, sequence) WHERE user_id IS NOT NULL",
            "CREATE INDEX audit_client ON audit (client_id, sequence)",
            "CREATE INDEX audit_kind ON audit (kind, sequence)",
            "CREATE INDEX audit_challenge ON audit (challenge_id, sequence) WHERE challenge_id IS NOT NULL",
        ]
    }
}
