import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

private enum Statements {
    static let linkedUsers = SQLStatement(
        """
        SELECT u.id, l.external_id, u.created_at, l.enrollment_blocked FROM user_links l JOIN users u ON u.id = l.user_id
        WHERE l.client_id = $1 AND l.user_id > $2 ORDER BY l.user_id LIMIT $3
        """)
    static let users = SQLStatement("SELECT id FROM users WHERE id > $1 ORDER BY id LIMIT $2")
    static let user = SQLStatement("SELECT created_at, deleted_at FROM users WHERE id = $1")
    static let links = SQLStatement(
        "SELECT client_id, external_id, enrollment_blocked FROM user_links WHERE user_id = $1 ORDER BY client_id")
    static let enrollmentsOfClient = SQLStatement(
        """
        SELECT e.user_id, e.id FROM user_links l JOIN enrollments e ON e.user_id = l.user_id
        WHERE l.client_id = $1 AND l.user_id >= $2 AND (l.user_id > $2 OR e.id > $3)
        ORDER BY l.user_id, e.id LIMIT $4
        """)
    static let enrollments = SQLStatement("SELECT user_id, id FROM enrollments WHERE id > $1 ORDER BY id LIMIT $2")
    static let enrolled = SQLStatement("SELECT user_id, id FROM enrollments WHERE fingerprint = $1")

    private static let ofDevice = "SELECT challenge_id FROM receipts WHERE enrollment_id = $1 AND challenge_id > $2"
    static let receipts = SQLStatement("\(ofDevice) ORDER BY challenge_id LIMIT $3")
    static let receiptsOfClient = SQLStatement("\(ofDevice) AND client_id = $4 ORDER BY challenge_id LIMIT $3")
    static let lastSequence = SQLStatement("SELECT max(sequence) FROM audit")
    static let nextEvent = SQLStatement(
        "SELECT sequence, at FROM audit WHERE sequence > $1 ORDER BY sequence LIMIT 1")

    private static let entry = "SELECT id, asked_at, type, state FROM challenges"
    /// A user's challenges are read in the order of their times, for which there is an index.
    private static let before = "asked_at <= $1 AND (asked_at < $1 OR id < $2) ORDER BY asked_at DESC, id DESC LIMIT $3"
    /// A client sees none that ask about sign-ins, and no gap in a page either, which would tell how many there are.
    private static let isShown = "purpose IN ('relying_party', 'new_device')"
    static let challenges = SQLStatement("\(entry) WHERE id < $1 ORDER BY id DESC LIMIT $2")
    static let challengesOfClient = SQLStatement(
        "\(entry) WHERE client_id = $3 AND id < $1 AND \(isShown) ORDER BY id DESC LIMIT $2")
    static let challengesOfUser = SQLStatement("\(entry) WHERE user_id = $4 AND \(before)")
    static let challengesOfBoth = SQLStatement(
        "\(entry) WHERE user_id = $4 AND client_id = $5 AND \(isShown) AND \(before)")
}

/// Lists; each page begins where the previous one ended.
extension SQLTransaction {
    func users(of client: ClientID, after id: UserID?, limit: Int) throws -> [LinkedUser] {
        try all(
            Statements.linkedUsers, [client.value, .first(after: id), .integer(Int64(limit))], LinkedUser.init)
    }

    func users(after id: UserID?, limit: Int) throws -> [UserID] {
        try all(Statements.users, [.first(after: id), .integer(Int64(limit))]) { try $0.id(0) }
    }

    func find(_ id: UserID) throws -> KnownUser? {
        let found = try first(Statements.user, [id.value]) { (try $0.time(0), try $0.optionalTime(1)) }
        guard let (createdAt, deletedAt) = found else { return nil }
        let links = try all(Statements.links, [id.value]) { row in
            UserLink(
                client: try row.id(0), externalID: try row.optionalValue(1) { try? ExternalID($0) },
                isEnrollmentBlocked: try row.integer(2) == 1)
        }
        return KnownUser(id: id, createdAt: createdAt, deletedAt: deletedAt, links: links)
    }

    func enrollments(
        of client: ClientID, after place: (UserID, EnrollmentID)?, limit: Int
    ) throws -> [(user: UserID, enrollment: EnrollmentID)] {
        let arguments: [SQLValue] = [
            client.value, .first(after: place?.0), .first(after: place?.1), .integer(Int64(limit)),
        ]
        return try all(Statements.enrollmentsOfClient, arguments) { (try $0.id(0), try $0.id(1)) }
    }

    func enrollments(
        after id: EnrollmentID?, limit: Int
    ) throws -> [(user: UserID, enrollment: EnrollmentID)] {
        try all(Statements.enrollments, [.first(after: id), .integer(Int64(limit))]) {
            (try $0.id(0), try $0.id(1))
        }
    }

    func enrolled(_ fingerprint: Fingerprint) throws -> (user: UserID, enrollment: EnrollmentID)? {
        try first(Statements.enrolled, [.blob(fingerprint.bytes)]) { (try $0.id(0), try $0.id(1)) }
    }

    func challenges(
        in scope: ListScope, of user: UserID?, before place: ListChallenges.Place?, limit: Int
    ) throws -> [ChallengeEntry] {
        // No id comes after the one of only `z`.
        let last = place.map { "\($0.id)" } ?? "chl_\(String(repeating: "z", count: 26))"
        let time = place?.askedAt.milliseconds ?? Int64.max
        let count = SQLValue.integer(Int64(limit))
        let (statement, arguments): (SQLStatement, [SQLValue]) =
            switch (scope, user) {
            case (.all, nil): (Statements.challenges, [.text(last), count])
            case (.client(let client), nil): (Statements.challengesOfClient, [.text(last), count, client.value])
            case (.all, let user?):
                (Statements.challengesOfUser, [.integer(time), .text(last), count, user.value])
            case (.client(let client), let user?):
                (Statements.challengesOfBoth, [.integer(time), .text(last), count, user.value, client.value])
            }
        return try all(statement, arguments) { row in
            ChallengeEntry(
                id: try row.id(0), askedAt: try row.time(1), type: try row.text(2), state: try row.text(3))
        }
    }
}

/// The receipts of one device, whether or not their challenges still exist.
extension SQLTransaction {
    func list(
        by enrollment: EnrollmentID, in scope: ListScope, after id: ChallengeID?, limit: Int
    ) throws -> [StoredReceipt] {
        let arguments: [SQLValue] = [enrollment.value, .first(after: id), .integer(Int64(limit))]
        let ids: [ChallengeID] =
            switch scope {
            case .all: try all(Statements.receipts, arguments) { try $0.id(0) }
            case .client(let client):
                try all(Statements.receiptsOfClient, arguments + [client.value]) { try $0.id(0) }
            }
        return try ids.compactMap { try find(of: $0) }
    }
}

extension SQLTransaction {
    func list(
        _ filter: AuditFilter, after sequence: Int64, limit: Int
    ) throws -> [(sequence: Int64, event: AuditEvent)] {
        var conditions: [String] = []
        var arguments: [SQLValue] = [.integer(sequence), .integer(Int64(limit))]
        func add(_ value: SQLValue?, _ condition: (String) -> String) {
            guard let value else { return }
            arguments.append(value)
            conditions.append(condition("$\(arguments.count)"))
        }
        add(filter.kind.map { .text($0.rawValue) }) { "kind = \($0)" }
        add(filter.client?.value) { "client_id = \($0)" }
        add(filter.user?.value) { "user_id = \($0)" }
        // The condition on the user allows an index to be used.
        add(filter.enrollment?.value) {
            "enrollment_id = \($0) AND user_id = (SELECT user_id FROM enrollments WHERE id = \($0))"
        }
        add(filter.challenge?.value) { "challenge_id = \($0)" }
        add(filter.since?.value) { "at >= \($0)" }
        add(filter.until?.value) { "at < \($0)" }
        let statement = SQLStatement(
            """
            SELECT \(Self.eventColumns) FROM audit
            WHERE \((["sequence > $1"] + conditions).joined(separator: " AND ")) ORDER BY sequence LIMIT $2
            """)
        if let since = filter.since { arguments[0] = .integer(max(sequence, try self.sequence(before: since))) }
        return try all(statement, arguments, Self.event)
    }

    /// `|| ''` keeps the planner from using the index on kinds, which covers everybody's events of a single one.
    func latest(
        of user: UserID, _ kinds: [AuditEventKind], before sequence: Int64, limit: Int
    ) throws -> [(sequence: Int64, event: AuditEvent)] {
        let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let statement = SQLStatement(
            """
            SELECT \(Self.eventColumns) FROM audit
            WHERE user_id = $1 AND sequence < $3 AND kind || '' IN (\(names)) ORDER BY sequence DESC LIMIT $2
            """)
        return try all(statement, [user.value, .integer(Int64(limit)), .integer(sequence)], Self.event)
    }

    private static let eventColumns =
        "sequence, id, at, kind, actor, client_id, user_id, enrollment_id, challenge_id, detail"

    private static func event(_ row: SQLRow) throws -> (sequence: Int64, event: AuditEvent) {
        let event = AuditEvent(
            id: try row.id(1), at: try row.time(2), kind: try row.value(3) { AuditEventKind(rawValue: $0) },
            actor: try row.value(4) { Actor($0) }, client: try row.optionalID(5), user: try row.optionalID(6),
            enrollment: try row.optionalID(7), challenge: try row.optionalID(8),
            detail: try row.value(9) { try? JSONValue(parsing: Array($0.utf8)).object })
        return (try row.integer(0), event)
    }

    /// The largest allowed difference between the clocks of servers; events are in the order of writing,
    /// not of time.
    private static let clockTolerance = Seconds.minutes(1)

    /// A sequence number after which all events from a time on lie, found by binary search, so that no index on times is
    /// needed.
    private func sequence(before time: Timestamp) throws -> Int64 {
        let time = time.adding(-Self.clockTolerance)
        var (low, high) = (Int64(0), try first(Statements.lastSequence, []) { try $0.optionalInteger(0) ?? 0 } ?? 0)
        while low < high {
            let middle = low + (high - low) / 2
            let next = try first(Statements.nextEvent, [.integer(middle)]) { (try $0.integer(0), try $0.time(1)) }
            if let (sequence, at) = next, at < time {
                low = sequence
            } else {
                high = middle
            }
        }
        return low
    }
}

extension SQLValue {
    /// The id after which a page begins; the empty text for the first page.
    fileprivate static func first<Kind>(after id: ID<Kind>?) -> SQLValue { .text(id.map { "\($0)" } ?? "") }
}
