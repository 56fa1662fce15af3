/// Step 7: what came of reading the whole code and trying it on a running server.
extension Migrations {
    static func seventh(_ dialect: SQLDialect) -> [String] {
        whoCounts(dialect) + clientStates(dialect) + descriptions(dialect) + retention(dialect) + signingKeys(dialect)
    }

    /// From when a device and its methods count; what removed ones leave behind; what is to be told when it counts.
    private static func whoCounts(_ dialect: SQLDialect) -> [String] {
        let integer = dialect.integer
        return [
            "ALTER TABLE enrollments RENAME COLUMN waits_until TO counts_from",
            "UPDATE enrollments SET counts_from = created_at WHERE counts_from IS NULL",
            "ALTER TABLE enrollments ADD COLUMN suspended_at \(integer)",
            "ALTER TABLE enrollments ADD COLUMN methods_count \(integer) NOT NULL DEFAULT 0",
            "UPDATE enrollments SET methods_count = 1 WHERE awaits IS NULL",
            "ALTER TABLE enrollments ADD COLUMN pin_counts_from \(integer)",
            "UPDATE enrollments SET pin_counts_from = created_at WHERE pin_key IS NOT NULL",
            "ALTER TABLE enrollments ADD COLUMN biometric_counts_from \(integer)",
            "UPDATE enrollments SET biometric_counts_from = created_at WHERE biometric_key IS NOT NULL",
            """
            CREATE TABLE left_behind (
              subject TEXT NOT NULL, enrollment_id TEXT NOT NULL, client_id TEXT NOT NULL, until \(integer) NOT NULL,
              had_method \(integer) NOT NULL, PRIMARY KEY (subject, enrollment_id)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX left_behind_until ON left_behind (until)",
            """
            CREATE TABLE ended_links (
              user_id TEXT NOT NULL, client_id TEXT NOT NULL, cooling_off \(integer) NOT NULL,
              until \(integer) NOT NULL, PRIMARY KEY (user_id, client_id)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX ended_links_until ON ended_links (until)",
            """
            CREATE TABLE waits (
              enrollment_id TEXT NOT NULL REFERENCES enrollments (id), method TEXT NOT NULL, until \(integer) NOT NULL,
              PRIMARY KEY (enrollment_id, method)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX waits_until ON waits (until)",
            """
            INSERT INTO waits (enrollment_id, method, until)
            SELECT id, 'confirm', counts_from FROM enrollments WHERE awaits IS NOT NULL AND removed_at IS NULL
            """,
        ]
    }

    /// Clients that are disabled or have a renewed secret, and their callbacks.
    private static func clientStates(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE clients ADD COLUMN earlier_secret_hash \(dialect.blob)",
            "ALTER TABLE clients ADD COLUMN earlier_secret_until \(dialect.integer)",
            "ALTER TABLE clients ADD COLUMN disabled_at \(dialect.integer)",
            "ALTER TABLE clients ADD COLUMN deleted_at \(dialect.integer)",
            "CREATE INDEX challenges_of_client ON challenges (client_id, id) WHERE state = 'pending'",
            "ALTER TABLE outbox ADD COLUMN lane TEXT NOT NULL DEFAULT ''", "UPDATE outbox SET lane = client_id",
            "CREATE INDEX outbox_lanes ON outbox (kind, lane, due_at) WHERE state = 'waiting'",
        ]
    }

    /// What devices say of themselves.
    private static func descriptions(_ dialect: SQLDialect) -> [String] {
        // Whoever enrolled before read the first version, as the only one there was.
        ["ALTER TABLE enrollments ADD COLUMN versions TEXT NOT NULL DEFAULT '1'"]
    }

    /// The issuer's keys that rotate; those that there are move here from `secrets` when they are read.
    private static func signingKeys(_ dialect: SQLDialect) -> [String] {
        [
            """
            CREATE TABLE signing_keys (
              id TEXT PRIMARY KEY, use TEXT NOT NULL, algorithm TEXT NOT NULL, state TEXT NOT NULL,
              created_at \(dialect.integer) NOT NULL, changes_at \(dialect.integer),
              compromised \(dialect.integer) NOT NULL, sealed \(dialect.blob) NOT NULL
            ) \(dialect.tableOptions)
            """
        ]
    }

    /// What is kept for how long, and what is read by cursors.
    ///
    /// Receipts stand by themselves: they may be kept longer than the questions they answer. Who was deleted before is
    /// erased like those who are deleted now.
    private static func retention(_ dialect: SQLDialect) -> [String] {
        let renamed =
            dialect.namesPrimaryKeys ? ["ALTER INDEX receipts_alone_pkey RENAME TO receipts_pkey"] : []
        let receipt = "challenge_id, enrollment_id, text, signature, certificate, accepted_at"
        return [
            """
            CREATE TABLE receipts_alone (
              challenge_id TEXT PRIMARY KEY, enrollment_id TEXT NOT NULL, text TEXT NOT NULL,
              signature \(dialect.blob) NOT NULL, certificate \(dialect.blob) NOT NULL,
              accepted_at \(dialect.integer) NOT NULL, client_id TEXT NOT NULL
            ) \(dialect.tableOptions)
            """,
            """
            INSERT INTO receipts_alone (\(receipt), client_id)
            SELECT \(receipt), (SELECT client_id FROM challenges WHERE id = challenge_id) FROM receipts
            """,
            "DROP TABLE receipts", "ALTER TABLE receipts_alone RENAME TO receipts",
        ] + renamed + [
            """
            CREATE TABLE erasures (
              user_id TEXT NOT NULL REFERENCES users (id), client_id TEXT NOT NULL, since \(dialect.integer) NOT NULL,
              PRIMARY KEY (user_id, client_id)
            ) \(dialect.tableOptions)
            """,
            """
            INSERT INTO erasures (user_id, client_id, since) SELECT DISTINCT u.id, c.client_id, u.deleted_at
            FROM users u JOIN challenges c ON c.user_id = u.id WHERE u.deleted_at IS NOT NULL
            """,
            "CREATE INDEX audit_user ON audit (user_id, place) WHERE user_id IS NOT NULL",
            "CREATE INDEX audit_client ON audit (client_id, place)",
            "CREATE INDEX audit_kind ON audit (kind, place)",
            "CREATE INDEX audit_challenge ON audit (challenge_id, place) WHERE challenge_id IS NOT NULL",
            "CREATE INDEX challenges_client ON challenges (client_id, id)",
            "CREATE INDEX receipts_device ON receipts (enrollment_id, challenge_id)",
            "DROP INDEX enrollments_user", "CREATE INDEX enrollments_user ON enrollments (user_id, id)",
        ]
    }
}
