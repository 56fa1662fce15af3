import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    static let reply = SQLStatement("SELECT body, request_digest FROM replies WHERE scope = $1 AND key = $2")
    static let insertReply = SQLStatement(
        """
        INSERT INTO replies (scope, key, request_digest, body, created_at) VALUES ($1, $2, $3, $4, $5)
        """)
    /// PostgreSQL assigns a transaction its number at the first write, but the audit's sequence number is taken slightly
    /// earlier; where nothing was written before, this statement makes the number come first.
    static let takeNumber = SQLStatement("SELECT pg_current_xact_id()::text::bigint")
    /// By how many events it appends, which begins with one.
    static let append = (1...8).map { count in
        let rows = (0..<count).map { row in "(" + (1...9).map { "$\(row * 9 + $0)" }.joined(separator: ", ") + ")" }
        return SQLStatement(
            """
            INSERT INTO audit (id, at, kind, actor, client_id, user_id, enrollment_id, challenge_id, detail)
            VALUES \(rows.joined(separator: ", "))
            """)
    }
    static let enqueue = SQLStatement(
        """
        INSERT INTO outbox (id, kind, client_id, payload, due_at, expires_at, attempts, state, lane)
        VALUES ($1, $2, $3, $4, $5, $6, 0, 'waiting', $7)
        """)
    static let countAttempt = SQLStatement(
        """
        INSERT INTO attempts (key, count, window_ends_at) VALUES ($1, 1, $2)
        ON CONFLICT (key) DO UPDATE SET
        count = CASE WHEN attempts.window_ends_at > $3 AND attempts.window_ends_at <= $4 THEN attempts.count + 1 ELSE 1 END,
        window_ends_at = CASE WHEN attempts.window_ends_at > $3 AND attempts.window_ends_at <= $4 THEN attempts.window_ends_at ELSE $2 END
        RETURNING count, window_ends_at
        """)
    static let attempts = SQLStatement(
        "SELECT count, window_ends_at FROM attempts WHERE key = $1 AND window_ends_at > $2")
    static let forgetAttempts = SQLStatement("DELETE FROM attempts WHERE key = $1")

    /// Deletes a batch of rows that meet a condition.
    private static func sweep(_ table: String, key: String, where condition: String) -> SQLStatement {
        SQLStatement(
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT $2)")
    }

    /// The tolerance for a server whose clock is ahead: it deletes nothing that other servers still need.
    private static let clockError = Seconds.hours(1)

    static let sweeps: [(statement: SQLStatement, keptFor: Seconds)] = [
        (sweep("nonces", key: "key_id, nonce", where: "expires_at < $1"), clockError),
        (sweep("attempts", key: "key", where: "window_ends_at < $1"), clockError),
        (sweep("replies", key: "scope, key", where: "created_at < $1"), IdempotencyKey.lifetime),
        // For a day after its expiry, a used ticket can be told from an unknown one.
        (sweep("tickets", key: "hash", where: "expires_at < $1"), .days(1)),
        // A device may repeat an answer after it was without a network.
        (sweep("answers", key: "enrollment_id, digest", where: "answered_at < $1"), .days(7)),
        // Nobody claimed these challenges: a page may show a code to every visitor. The audit still records them.
        (sweep("challenges", key: "id", where: "channel = 'code' AND claimed_at IS NULL AND ended_at < $1"), .days(1)),
        (
            sweep("known_browsers", key: "user_id, client_id, browser", where: "approved_at < $1"),
            KnownBrowser.keptFor
        ),
        // These rows decide when new devices and methods count, so they are kept until their time whatever the other
        // periods are.
        (sweep("left_behind", key: "subject, enrollment_id", where: "until < $1"), clockError),
        (sweep("passkeys", key: "id", where: "removed_until < $1"), clockError),
        (sweep("ended_links", key: "user_id, client_id", where: "until < $1"), clockError),
        (sweep("authorizations", key: "id", where: "expires_at < $1"), Authorization.keptFor),
        (sweep("codes", key: "hash", where: "expires_at < $1"), AuthorizationCode.keptFor),
        (
            SQLStatement(
                """
                DELETE FROM session_clients WHERE session_id IN
                (SELECT id FROM sessions WHERE expires_at < $1 LIMIT $2)
                """), clockError
        ),
        (sweep("sessions", key: "id", where: "expires_at < $1"), clockError),
        (sweep("revoked_tokens", key: "jti", where: "expires_at < $1"), clockError),
        (sweep("token_families", key: "id", where: "expires_at < $1"), clockError),
        (sweep("outbox", key: "id", where: "state = 'delivered' AND delivered_at < $1"), .days(1)),
        // A dead message can no longer be sent but can still be looked at: a callback for 30 days, any other message
        // for a day. The result of a push is also recorded with its challenge.
        (sweep("outbox", key: "id", where: "state = 'dead' AND kind <> 'callback' AND expires_at < $1"), .days(1)),
        (sweep("outbox", key: "id", where: "state = 'dead' AND expires_at < $1"), .days(30)),
        (
            SQLStatement(
                """
                UPDATE outbox SET payload = NULL WHERE id IN
                (SELECT id FROM outbox WHERE state = 'dead' AND payload IS NOT NULL AND expires_at < $1 LIMIT $2)
                """), 0
        ),
    ]
}

/// Replies to repeated requests, the audit, the insertion into the outbox, and limits.
extension SQLTransaction {
    func find(_ key: IdempotencyKey) throws -> KeptReply? {
        try first(Statements.reply, [.text(key.scope), .text(key.key)]) { row in
            guard let form = KeptForm(stored: try sealer.open(try row.blob(0), for: key.place)) else {
                throw StoreError.corruptRow("reply")
            }
            return KeptReply(form: form, requestDigest: MessageDigest(stored: try row.blob(1)))
        }
    }

    func insert(_ form: KeptForm, for key: IdempotencyKey, at time: Timestamp) throws {
        try connection.send(
            Statements.insertReply,
            [
                .text(key.scope), .text(key.key), .blob(key.requestDigest.bytes),
                .blob(try sealer.seal(form.stored, for: key.place)), time.value,
            ])
    }

    func append(_ event: AuditEvent) throws { events.append(event) }

    /// Writes the audit events of the transaction, at its end.
    func writeEvents() throws {
        guard !events.isEmpty else { return }
        if locksRows, !connection.hasNumber { try connection.send(Statements.takeNumber, []) }
        var rest = events[...]
        while !rest.isEmpty {
            let next = rest.prefix(Statements.append.count)
            rest = rest.dropFirst(next.count)
            try connection.send(Statements.append[next.count - 1], next.flatMap(Self.columns))
        }
    }

    private static func columns(of event: AuditEvent) -> [SQLValue] {
        [
            event.id.value, event.at.value, .text(event.kind.rawValue), .text("\(event.actor)"),
            .optional(event.client?.description), .optional(event.user?.description),
            .optional(event.enrollment?.description), .optional(event.challenge?.description),
            .text(JSONValue.object(event.detail).text),
        ]
    }

    func enqueue(_ message: OutboxMessage) throws {
        let content = message.content
        try connection.send(
            Statements.enqueue,
            [
                message.id.value, .text(content.kind.rawValue), content.client.value,
                .blob(try sealer.seal(content.json.encoded, for: OutboxMessage.place(message.id))), message.dueAt.value,
                message.expiresAt.value, .text(message.lane.stored),
            ])
        notify(.outbox(content.kind))
    }

    func count(_ key: String, window: Seconds, at time: Timestamp) throws -> AttemptCount {
        let end = time.adding(window)
        let latest = time.adding(2 * window)
        let count = try first(Statements.countAttempt, [.text(key), end.value, time.value, latest.value]) { row in
            try row.attempts
        }
        guard let count else { throw StoreError.corruptRow("attempts") }
        return count
    }

    func find(_ key: String, at time: Timestamp) throws -> AttemptCount? {
        try first(Statements.attempts, [.text(key), time.value]) { try $0.attempts }
    }

    func forget(_ key: String) throws {
        try connection.send(Statements.forgetAttempts, [.text(key)])
    }

    func sweep(now: Timestamp, limit: Int) throws -> Int {
        try Statements.sweeps.reduce(0) { total, sweep in
            let oldest = now.adding(-sweep.keptFor)
            return total + (try connection.execute(sweep.statement, [oldest.value, .integer(Int64(limit))]))
        }
    }
}

extension IdempotencyKey {
    fileprivate var place: String { Self.place(scope: scope, key: key) }

    static func place(scope: String, key: String) -> String { "reply \(scope) \(key)" }
}

extension SQLRow {
    fileprivate var attempts: AttemptCount {
        get throws { AttemptCount(number: Int(try integer(0)), windowEnd: try time(1)) }
    }
}

extension OutboxMessage {
    static func place(_ id: some CustomStringConvertible) -> String { "outbox \(id)" }
}
