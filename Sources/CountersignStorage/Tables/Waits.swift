import CountersignCore
import CountersignWire

private enum Statements {
    static let lockUser = SQLStatement("SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE")
    static let externalIDs = SQLStatement(
        "SELECT client_id, external_id FROM user_links WHERE user_id = $1 AND external_id IS NOT NULL ORDER BY client_id"
    )
    static let coolingOff = SQLStatement(
        "SELECT max(c.cooling_off) FROM user_links l JOIN clients c ON c.id = l.client_id WHERE l.user_id = $1")
    static let endedCoolingOff = SQLStatement(
        "SELECT max(cooling_off) FROM ended_links WHERE user_id = $1 AND until > $2")
    static let keepCoolingOff = SQLStatement(
        """
        INSERT INTO ended_links (user_id, client_id, cooling_off, until)
        SELECT $1, id, cooling_off, $3 + 1000 * cooling_off FROM clients WHERE id = $2
        ON CONFLICT (user_id, client_id) DO UPDATE SET cooling_off = excluded.cooling_off, until = excluded.until
        """)
    static let leftBehind = SQLStatement(
        """
        SELECT max(until), max(had_method) FROM left_behind
        WHERE subject = $1 AND until > $2 AND (believed_in IS NULL OR believed_in = COALESCE($3, believed_in))
        AND enrollment_id <> $4
        """)
    /// Of two records of one enrollment the stricter parts stay.
    private static let merging = """
        ON CONFLICT (subject, enrollment_id) DO UPDATE SET
        until = CASE WHEN left_behind.until > excluded.until THEN left_behind.until ELSE excluded.until END,
        had_method =
          CASE WHEN left_behind.had_method > excluded.had_method THEN left_behind.had_method ELSE excluded.had_method END,
        believed_in = CASE WHEN excluded.believed_in IS NULL THEN NULL ELSE left_behind.believed_in END
        """
    static let keep = SQLStatement(
        """
        INSERT INTO left_behind (subject, enrollment_id, client_id, until, had_method, believed_in)
        VALUES ($1, $2, $3, $4, $5, $6)
        \(merging)
        """)
    static let copy = SQLStatement(
        """
        INSERT INTO left_behind (subject, enrollment_id, client_id, until, had_method, believed_in)
        SELECT $2, enrollment_id, client_id, until, had_method, believed_in
        FROM left_behind WHERE subject = $1 AND until > $3
        \(merging)
        """)
    static let keepWait = SQLStatement(
        """
        INSERT INTO waits (enrollment_id, method, until) VALUES ($1, $2, $3)
        ON CONFLICT (enrollment_id, method) DO UPDATE SET until = excluded.until
        """)
    static let forgetWait = SQLStatement("DELETE FROM waits WHERE enrollment_id = $1 AND method = $2")
    static let forgetWaits = SQLStatement("DELETE FROM waits WHERE enrollment_id = $1")
    static let due = SQLStatement(
        "SELECT enrollment_id, method FROM waits WHERE until <= $1 ORDER BY until LIMIT $2")
}

/// What decides when a new device or method counts: ended links, what removed enrollments left behind, and waiting
/// times.
extension SQLTransaction {
    func lock(_ user: UserID) throws {
        if locksRows { _ = try connection.rows(Statements.lockUser, [user.value]) }
    }

    func externalIDs(of user: UserID) throws -> [(client: ClientID, externalID: ExternalID)] {
        try all(Statements.externalIDs, [user.value]) { row in
            (try row.id(0), try row.value(1) { try? ExternalID($0) })
        }
    }

    func longestCoolingOff(of user: UserID, at time: Timestamp) throws -> Seconds? {
        let linked = try first(Statements.coolingOff, [user.value]) { try $0.optionalInteger(0) } ?? nil
        let ended =
            try first(Statements.endedCoolingOff, [user.value, time.value]) { try $0.optionalInteger(0) } ?? nil
        return [linked, ended].compactMap(\.self).max().map { Seconds($0) }
    }

    func keepCoolingOff(of client: ClientID, for user: UserID, at time: Timestamp) throws {
        try connection.send(Statements.keepCoolingOff, [user.value, client.value, time.value])
    }

    func leftBehind(
        by subjects: [String], besides: EnrollmentID?, in group: TrustGroup?, at time: Timestamp
    ) throws -> LeftBehind? {
        var found: LeftBehind?
        for subject in subjects {
            let values: [SQLValue] = [.text(subject), time.value, .optional(group?.text), besides?.value ?? .text("")]
            let left = try first(Statements.leftBehind, values) { row in
                try row.optionalTime(0).map { LeftBehind(until: $0, hadMethod: try row.integer(1) == 1) }
            }
            guard let left = left ?? nil else { continue }
            found = LeftBehind(
                until: max(left.until, found?.until ?? left.until),
                hadMethod: left.hadMethod || found?.hadMethod == true)
        }
        return found
    }

    func keep(_ left: LeftBehind, of enrollment: Enrollment, by subject: String) throws {
        try connection.send(
            Statements.keep,
            [
                .text(subject), enrollment.id.value, enrollment.client.value, left.until.value,
                .integer(left.hadMethod ? 1 : 0),
                .optional(enrollment.isConfirmed ? nil : enrollment.trustGroup.text),
            ])
    }

    func copyLeftBehind(from subjects: [String], to subject: String, at time: Timestamp) throws {
        for source in subjects where source != subject {
            try connection.send(Statements.copy, [.text(source), .text(subject), time.value])
        }
    }

    func insert(_ method: AnswerMethod, of enrollment: EnrollmentID, until time: Timestamp) throws {
        try connection.send(Statements.keepWait, [enrollment.value, .text(method.rawValue), time.value])
    }

    @discardableResult
    func delete(_ method: AnswerMethod, of enrollment: EnrollmentID) throws -> Bool {
        try connection.execute(Statements.forgetWait, [enrollment.value, .text(method.rawValue)]) == 1
    }

    func deleteAll(of enrollment: EnrollmentID) throws {
        try connection.send(Statements.forgetWaits, [enrollment.value])
    }

    func due(
        now: Timestamp, limit: Int
    ) throws -> [(enrollment: EnrollmentID, method: AnswerMethod)] {
        try all(Statements.due, [now.value, .integer(Int64(limit))]) { row in
            (try row.id(0), try row.value(1) { AnswerMethod(rawValue: $0) })
        }
    }
}

extension TrustGroup {
    /// The form in which a column holds it.
    fileprivate var text: String {
        switch self {
        case .firstParty: "first"
        case .thirdParty(let client): "\(client)"
        }
    }
}
