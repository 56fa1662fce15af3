package import CountersignCore
package import CountersignWire
import Encodings

private enum Statements {
    static func lease(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            """
            UPDATE outbox SET due_at = $1 WHERE id IN (
              SELECT id FROM outbox WHERE state = 'waiting' AND kind = $4 AND lane = $5 AND due_at <= $2
              ORDER BY due_at LIMIT $3 \(dialect.skipLocked)
            ) RETURNING id, client_id, payload, expires_at, attempts, kind, lane
            """)
    }
    /// Jumps from one lane to the next, so a lane with many messages costs no more than the others.
    static let dueLanes = SQLStatement(
        """
        WITH RECURSIVE lanes (lane) AS (
          SELECT min(lane) FROM outbox WHERE state = 'waiting' AND kind = $1
          UNION ALL
          SELECT (SELECT min(o.lane) FROM outbox o WHERE o.state = 'waiting' AND o.kind = $1 AND o.lane > lanes.lane)
          FROM lanes WHERE lanes.lane IS NOT NULL
        )
        SELECT lane,
          (SELECT min(o.due_at) FROM outbox o WHERE o.state = 'waiting' AND o.kind = $1 AND o.lane = lanes.lane
            AND o.due_at <= $2),
          (SELECT count(*) FROM (SELECT 1 AS one FROM outbox o WHERE o.state = 'waiting' AND o.kind = $1
            AND o.lane = lanes.lane AND o.due_at <= $2 LIMIT $3) AS due)
        FROM lanes WHERE lane IS NOT NULL
        """)
    static let release = SQLStatement(
        "UPDATE outbox SET due_at = $2 WHERE id = $1 AND state = 'waiting' AND due_at = $3 RETURNING id")
    static let endLeases = SQLStatement(
        "UPDATE outbox SET due_at = $1 WHERE state = 'waiting' AND kind = $3 AND due_at > $1 AND due_at <= $2")
    static let nextDue = SQLStatement(
        "SELECT min(due_at) FROM outbox WHERE state = 'waiting' AND kind = $1 AND due_at > $2")
    static let delivered = SQLStatement(
        """
        UPDATE outbox SET state = 'delivered', payload = NULL, delivered_at = $2, attempts = attempts + 1
        WHERE id = $1 AND state <> 'delivered' RETURNING id
        """)
    static let retry = SQLStatement(
        """
        UPDATE outbox SET due_at = $2, attempts = attempts + 1, last_error = $3
        WHERE id = $1 AND state = 'waiting' RETURNING id
        """)
    static let bury = SQLStatement(
        """
        UPDATE outbox SET state = 'dead', attempts = attempts + 1, last_error = $2
        WHERE id = $1 AND state = 'waiting' RETURNING id
        """)
    static let columns = "id, kind, client_id, state, due_at, expires_at, attempts, last_error"
    /// Every id comes after the empty text, so the first page starts from it.
    static func entries(_ state: OutboxEntry.State) -> SQLStatement {
        SQLStatement(
            "SELECT \(columns) FROM outbox WHERE state = '\(state.rawValue)' AND id > $1 ORDER BY id LIMIT $2")
    }
    static let entry = SQLStatement("SELECT \(columns) FROM outbox WHERE id = $1 AND state IN ('waiting', 'dead')")
    static let requeue = SQLStatement(
        """
        UPDATE outbox SET state = 'waiting', due_at = $2
        WHERE id = $1 AND state IN ('waiting', 'dead') AND payload IS NOT NULL
        RETURNING id, client_id, payload, expires_at, attempts, kind, lane
        """)
    static let setAside = SQLStatement("UPDATE outbox SET state = 'dead', last_error = $2 WHERE id = $1")
    static let status = SQLStatement("SELECT count(*), min(id) FROM outbox WHERE state = 'waiting'")
}

/// The outbox.
///
/// A lease is a due time in the future, so the lease of a process that dies expires by itself.
extension SQLStore: OutboxQueue {
    /// See ``OutboxQueue/dueLanes(_:at:)``.
    package func dueLanes(_ kind: OutboxMessage.Kind, at now: Timestamp) async throws -> [DueLane] {
        let most = SQLValue.integer(Int64(DueLane.maximumCount))
        return try await engine.read { connection in
            try connection.rows(Statements.dueLanes, [.text(kind.rawValue), now.value, most]).compactMap { row in
                guard let since = try row.optionalTime(1) else { return nil }
                return DueLane(
                    lane: try row.value(0) { OutboxLane(stored: $0) }, since: since, count: Int(try row.integer(2)))
            }
        }
    }

    /// See ``OutboxQueue/lease(_:_:now:until:)``.
    package func lease(
        _ kind: OutboxMessage.Kind, _ shares: [LaneShare], now: Timestamp, until: Timestamp
    ) async throws -> [LeasedMessage] {
        let sealer = try sealer
        let lease = Statements.lease(engine.dialect)
        return try await engine.write { connection in
            let rows = try connection.rows(
                lease,
                each: shares.map { share in
                    [
                        until.value, now.value, .integer(Int64(share.count)), .text(kind.rawValue),
                        .text(share.lane.stored),
                    ]
                }
            ).joined()
            var messages: [LeasedMessage] = []
            for row in rows {
                do {
                    messages.append(try LeasedMessage(row, dueAt: now, until: until, sealer: sealer))
                } catch StoreError.corruptRow(let what) {
                    // An unreadable row must not hold up the others.
                    try connection.send(Statements.setAside, [.text(try row.text(0)), .text("unreadable: \(what)")])
                }
            }
            return (messages, changes: [])
        }
    }

    /// See ``OutboxQueue/release(_:at:)``.
    package func release(_ messages: [LeasedMessage], at now: Timestamp) async throws {
        guard !messages.isEmpty else { return }
        // All nodes use the same order, so that no two wait for each other's rows.
        let arguments: [[SQLValue]] = messages.sorted { $0.message.id < $1.message.id }.map {
            [$0.message.id.value, now.value, $0.until.value]
        }
        try await engine.write { connection in
            _ = try connection.rows(Statements.release, each: arguments)
            return ((), changes: Set(messages.map(\.message.content.kind)).map(ChangeTopic.outbox))
        }
    }

    /// Makes messages due at once that an earlier process had leased.
    ///
    /// Call this only when no other process delivers from this database. A message that waits for its next attempt
    /// within the length of a lease looks the same as a leased one, and is tried early.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - length: the longest duration of a lease.
    package func endLeases(at now: Timestamp, longest length: Seconds) async throws {
        try await engine.write { connection in
            for kind in OutboxMessage.Kind.allCases {
                try connection.send(
                    Statements.endLeases, [now.value, now.adding(length).value, .text(kind.rawValue)])
            }
            return ((), changes: [])
        }
    }

    /// See ``OutboxQueue/nextDue(_:after:)``.
    package func nextDue(_ kind: OutboxMessage.Kind, after time: Timestamp) async throws -> Timestamp? {
        try await engine.read { connection in
            try connection.rows(Statements.nextDue, [.text(kind.rawValue), time.value]).first?.optionalTime(0)
        }
    }

    /// The number of waiting messages, and when the oldest of them was queued.
    package func outboxStatus() async throws -> (count: Int, oldest: Timestamp?) {
        try await engine.read { connection in
            guard let row = try connection.rows(Statements.status, []).first else { return (0, nil) }
            let oldest: EventID? = try row.optionalID(1)
            return (Int(try row.integer(0)), oldest?.time)
        }
    }
}

extension SQLTransaction {
    func settle(_ settlements: [EventID: Settlement], at now: Timestamp) throws -> Set<EventID> {
        var (delivered, retried, buried): ([[SQLValue]], [[SQLValue]], [[SQLValue]]) = ([], [], [])
        // All nodes use the same order, so that no two wait for each other's rows.
        for (message, settlement) in settlements.sorted(by: { $0.key < $1.key }) {
            switch settlement {
            case .delivered: delivered.append([message.value, now.value])
            case .retried(let error, let retryAt): retried.append([message.value, retryAt.value, .text(error)])
            case .abandoned(let error): buried.append([message.value, .text(error)])
            }
        }
        let rows =
            try connection.rows(Statements.delivered, each: delivered)
            + connection.rows(Statements.retry, each: retried) + connection.rows(Statements.bury, each: buried)
        return Set(try rows.joined().map { try $0.id(0) })
    }
}

/// What operators see and change in the outbox.
extension SQLTransaction {
    func list(_ state: OutboxEntry.State, after id: EventID?, limit: Int) throws -> [OutboxEntry] {
        try all(
            Statements.entries(state), [.text(id.map { "\($0)" } ?? ""), .integer(Int64(limit))], OutboxEntry.init)
    }

    func find(_ id: EventID) throws -> OutboxEntry? {
        try first(Statements.entry, [id.value], OutboxEntry.init)
    }

    func requeue(_ message: EventID, at now: Timestamp) throws -> OutboxMessage? {
        try first(Statements.requeue, [message.value, now.value]) {
            try LeasedMessage($0, dueAt: now, until: now, sealer: sealer).message
        }
    }
}

extension OutboxEntry {
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            id: try row.id(0), kind: try row.text(1), client: try row.id(2),
            state: try row.value(3) { State(rawValue: $0) }, dueAt: try row.time(4), expiresAt: try row.time(5),
            attempts: Int(try row.integer(6)), lastError: try row.optionalText(7))
    }
}

extension LeasedMessage {
    fileprivate init(_ row: SQLRow, dueAt: Timestamp, until: Timestamp, sealer: Sealer) throws {
        let id: EventID = try row.id(0)
        let payload = try sealer.open(try row.blob(2), for: OutboxMessage.place(id))
        guard let json = try? JSONValue(parsing: payload),
            let content = OutboxMessage.Content(kind: try row.text(5), client: try row.id(1), json)
        else { throw StoreError.corruptRow("outbox payload") }
        self.init(
            message: OutboxMessage(id: id, content: content, dueAt: dueAt, expiresAt: try row.time(3)),
            attempts: Int(try row.integer(4)), lane: try row.value(6) { OutboxLane(stored: $0) }, until: until)
    }
}

extension OutboxLane {
    /// The form in which rows hold a lane.
    var stored: String { host.map { "\(client) \($0)" } ?? "\(client)" }

    fileprivate init?(stored text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let client = parts.first.flatMap({ ClientID(String($0)) }) else { return nil }
        self.init(client: client, host: parts.count == 2 ? String(parts[1]) : nil)
    }
}

/// The form in which rows hold a message's content.
extension OutboxMessage.Content {
    var json: JSONValue {
        switch self {
        case .callback(let uri, _, let body), .notice(let uri, _, let body), .hook(let uri, _, let body):
            .members([
                "uri": .string(uri.description), "body": .string(String(decoding: body, as: UTF8.self)),
                "for": posted.map { .string($0.purpose.rawValue) },
            ])
        case .push(let challenge, let enrollment, _):
            .members(["challenge": .string("\(challenge)"), "enrollment": .string("\(enrollment)")])
        case .withdrawal(let challenge, let enrollment, _):
            .members([
                "challenge": .string("\(challenge)"), "enrollment": .string("\(enrollment)"), "withdraws": true,
            ])
        case .personal(let message, .email(let address), _):
            .members(["to": .string("\(address)"), "message": message.stored])
        case .personal(let message, .phone(let number), _):
            .members(["to": .string("\(number)"), "message": message.stored])
        case .logout(let uri, _, let sid, let user):
            .members(["uri": .string(uri.description), "sid": .string(sid), "user": .string("\(user)")])
        case .backchannel(let uri, _, let authorization, let event):
            .members([
                "uri": .string(uri.description), "authorization": .string("\(authorization)"),
                "event": .string(event.rawValue),
            ])
        case .signInCode(let authorization, let verification, _, _):
            .members(["authorization": .string("\(authorization)"), "verification": .string("\(verification)")])
        case .signIn(let authorization, let challenge, _):
            .members(["authorization": .string("\(authorization)"), "challenge": .string("\(challenge)")])
        }
    }

    fileprivate init?(kind: String, client: ClientID, _ json: JSONValue) {
        if let authorization = json["authorization"]?.string.flatMap({ AuthorizationID($0) }) {
            self.init(kind: kind, of: authorization, client: client, json)
            return
        }
        switch OutboxMessage.Kind(rawValue: kind) {
        case .callback:
            guard let uri = json["uri"]?.string, let body = json["body"]?.string else { return nil }
            let (receiver, bytes) = (CallbackURI(stored: uri), Array(body.utf8))
            // Rows of an earlier version do not name the purpose.
            switch CallbackPurpose(rawValue: json["for"]?.string ?? CallbackPurpose.callbacks.rawValue) {
            case .callbacks: self = .callback(receiver, client: client, body: bytes)
            case .notices: self = .notice(receiver, client: client, body: bytes)
            case .hooks: self = .hook(receiver, client: client, body: bytes)
            case nil: return nil
            }
        case .push:
            guard let challenge = json["challenge"]?.string.flatMap({ ChallengeID($0) }),
                let enrollment = json["enrollment"]?.string.flatMap({ EnrollmentID($0) })
            else { return nil }
            self =
                json["withdraws"] == true
                ? .withdrawal(challenge, to: enrollment, client: client)
                : .push(challenge, to: enrollment, client: client)
        case .mail:
            guard let address = json["to"]?.string.flatMap({ EmailAddress($0) }),
                let message = json["message"].flatMap({ PersonalMessage(stored: $0) })
            else { return nil }
            self = .personal(message, to: .email(address), client: client)
        case .text:
            guard let number = json["to"]?.string.flatMap({ PhoneNumber($0) }),
                let message = json["message"].flatMap({ PersonalMessage(stored: $0) })
            else { return nil }
            self = .personal(message, to: .phone(number), client: client)
        case .logout:
            guard let uri = json["uri"]?.string, let sid = json["sid"]?.string,
                let user = json["user"]?.string.flatMap({ UserID($0) })
            else { return nil }
            self = .logout(CallbackURI(stored: uri), client: client, sid: sid, of: user)
        case .backchannel, .signIn, nil: return nil
        }
    }

    /// What is sent for a sign-in.
    private init?(kind: String, of authorization: AuthorizationID, client: ClientID, _ json: JSONValue) {
        if kind == OutboxMessage.Kind.backchannel.rawValue {
            guard let uri = json["uri"]?.string,
                let event = json["event"]?.string.flatMap({ BackchannelEvent(rawValue: $0) })
            else { return nil }
            self = .backchannel(CallbackURI(stored: uri), client: client, of: authorization, event)
            return
        }
        let verification = json["verification"]?.string.flatMap { VerificationID($0) }
        switch (
            OutboxMessage.Kind(rawValue: kind), verification, json["challenge"]?.string.flatMap({ ChallengeID($0) })
        ) {
        case (.mail, let verification?, _):
            self = .signInCode(authorization, of: verification, by: .email, client: client)
        case (.text, let verification?, _):
            self = .signInCode(authorization, of: verification, by: .phone, client: client)
        case (.signIn, _, let challenge?): self = .signIn(authorization, by: challenge, client: client)
        default: return nil
        }
    }
}
