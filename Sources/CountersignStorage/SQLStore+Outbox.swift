public import CountersignCore
public import CountersignWire
public import Encodings

private enum Statements {
    static func lease(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            """
            UPDATE outbox SET due_at = $1 WHERE id IN (
              SELECT id FROM outbox WHERE state = 'waiting' AND due_at <= $2 ORDER BY due_at LIMIT $3
              \(dialect.skipLocked)
            ) RETURNING id, client_id, payload, expires_at, attempts
            """)
    }
    static let endLeases = SQLStatement(
        "UPDATE outbox SET due_at = $1 WHERE state = 'waiting' AND due_at > $1 AND due_at <= $2")
    static let nextDue = SQLStatement("SELECT min(due_at) FROM outbox WHERE state = 'waiting'")
    static let delivered = SQLStatement(
        "UPDATE outbox SET state = 'delivered', payload = NULL, delivered_at = $2, attempts = attempts + 1 WHERE id = $1"
    )
    static let retry = SQLStatement(
        "UPDATE outbox SET due_at = $2, attempts = attempts + 1, last_error = $3 WHERE id = $1 AND state = 'waiting'")
    static let bury = SQLStatement(
        """
        UPDATE outbox SET state = 'dead', attempts = attempts + 1, last_error = $2, payload = NULL
        WHERE id = $1 AND state = 'waiting'
        """)
    static let setAside = SQLStatement("UPDATE outbox SET state = 'dead', last_error = $2 WHERE id = $1")
    static let standing = SQLStatement("SELECT count(*), min(id) FROM outbox WHERE state = 'waiting'")
    static let callbackSecret = SQLStatement("SELECT callback_secret FROM clients WHERE id = $1")
}

/// The outbox.
///
/// A lease is a due time in the future: whoever dies holding one loses it by itself.
extension SQLStore: OutboxQueue {
    /// See ``OutboxQueue/lease(limit:now:until:)``.
    public func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [LeasedMessage] {
        let sealer = sealer
        let lease = Statements.lease(engine.dialect)
        return try await engine.write { connection in
            let rows = try connection.rows(lease, [until.value, now.value, .integer(Int64(limit))])
            var messages: [LeasedMessage] = []
            for row in rows {
                do {
                    messages.append(try LeasedMessage(row, dueAt: now, sealer: sealer))
                } catch StoreError.corruptRow(let what) {
                    // One row that nobody can read must not hold up the others.
                    try connection.send(Statements.setAside, [.text(try row.text(0)), .text("unreadable: \(what)")])
                }
            }
            return (messages, wakes: [])
        }
    }

    /// Makes due at once what an earlier process had leased.
    ///
    /// Only for a process that knows that no other one delivers from this database. What waits to be tried again within
    /// the length of a lease looks the same, and is tried sooner for it.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - length: how long a lease lasts at most, in seconds.
    public func endLeases(at now: Timestamp, longest length: Int64) async throws {
        try await engine.write { connection in
            try connection.send(Statements.endLeases, [now.value, now.adding(seconds: length).value])
            return ((), wakes: [])
        }
    }

    /// See ``OutboxQueue/nextDue()``.
    public func nextDue() async throws -> Timestamp? {
        try await engine.read { try $0.rows(Statements.nextDue, []).first?.optionalTime(0) }
    }

    /// How many messages wait, and when the oldest of them was queued.
    package func outboxStanding() async throws -> (count: Int, oldest: Timestamp?) {
        try await engine.read { connection in
            guard let row = try connection.rows(Statements.standing, []).first else { return (0, nil) }
            let oldest: EventID? = try row.optionalID(1)
            return (Int(try row.integer(0)), oldest?.time)
        }
    }

    /// See ``OutboxQueue/delivered(_:at:)``.
    public func delivered(_ id: EventID, at now: Timestamp) async throws {
        try await engine.write { connection in
            try connection.send(Statements.delivered, [id.value, now.value])
            return ((), wakes: [])
        }
    }

    /// See ``OutboxQueue/failed(_:error:retryAt:)``.
    public func failed(_ id: EventID, error: String, retryAt: Timestamp?) async throws {
        try await engine.write { connection in
            if let retryAt {
                try connection.send(Statements.retry, [id.value, retryAt.value, .text(error)])
            } else {
                try connection.send(Statements.bury, [id.value, .text(error)])
            }
            return ((), wakes: [])
        }
    }

    /// See ``OutboxQueue/callbackSecret(of:)``.
    public func callbackSecret(of client: ClientID) async throws -> Secret<String>? {
        let sealer = sealer
        return try await engine.read { connection in
            try connection.rows(Statements.callbackSecret, [client.value]).first?.optionalBlob(0).map { sealed in
                Secret(String(decoding: try sealer.open(sealed, for: "callback secret \(client)"), as: UTF8.self))
            }
        }
    }
}

extension LeasedMessage {
    fileprivate init(_ row: SQLRow, dueAt: Timestamp, sealer: Sealer) throws {
        let id: EventID = try row.id(0)
        let payload = try sealer.open(try row.blob(2), for: OutboxMessage.place(id))
        guard let json = try? JSONValue(parsing: payload), let uri = json["uri"]?.string,
            let body = json["body"]?.string
        else { throw StoreError.corruptRow("outbox payload") }
        self.init(
            message: OutboxMessage(
                id: id,
                content: .callback(CallbackURI(stored: uri), client: try row.id(1), body: Array(body.utf8)),
                dueAt: dueAt, expiresAt: try row.time(3)),
            attempts: Int(try row.integer(4)))
    }
}
