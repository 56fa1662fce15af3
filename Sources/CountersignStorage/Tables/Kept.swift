import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    /// Ids begin with their creation time, so the oldest come first and no further index is needed.
    static let endedChallenges = SQLStatement(
        """
        SELECT id FROM challenges WHERE id < $1 AND state <> 'pending' AND ended_at < $2 ORDER BY id LIMIT $3
        """)
    static let deleteTargets = SQLStatement("DELETE FROM challenge_targets WHERE challenge_id = $1")
    static let deleteChallenge = SQLStatement("DELETE FROM challenges WHERE id = $1 AND state <> 'pending'")
    static let deleteReceipts = SQLStatement(
        """
        DELETE FROM receipts WHERE challenge_id IN (SELECT challenge_id FROM receipts
        WHERE challenge_id < $1 AND accepted_at < $2 ORDER BY challenge_id LIMIT $3)
        """)
    /// Looks only at the oldest events: the order of writing is the order of time, apart from differences between the
    /// clocks of nodes.
    static let deleteEvents = SQLStatement(
        """
        DELETE FROM audit WHERE at < $1
        AND sequence IN (SELECT sequence FROM audit WHERE sequence > 0 ORDER BY sequence LIMIT $2)
        """)
    /// All that has been asked is erased, also what a node whose clock is ahead has asked.
    static let putErasure = SQLStatement(
        """
        INSERT INTO erasures (user_id, client_id, since)
        SELECT $1, $2, CASE WHEN coalesce(max(asked_at), 0) > $3 THEN max(asked_at) ELSE $3 END
        FROM challenges WHERE user_id = $1 AND client_id = $2
        ON CONFLICT (user_id, client_id) DO UPDATE SET since =
          CASE WHEN excluded.since > erasures.since THEN excluded.since ELSE erasures.since END
        """)
    static let putErasures = SQLStatement(
        """
        INSERT INTO erasures (user_id, client_id, since)
        SELECT user_id, client_id, CASE WHEN max(asked_at) > $2 THEN max(asked_at) ELSE $2 END
        FROM challenges WHERE user_id = $1 GROUP BY user_id, client_id
        ON CONFLICT (user_id, client_id) DO UPDATE SET since =
          CASE WHEN excluded.since > erasures.since THEN excluded.since ELSE erasures.since END
        """)
    static let nextErasure = SQLStatement(
        """
        SELECT e.user_id, e.client_id, e.since, u.deleted_at FROM erasures e JOIN users u ON u.id = e.user_id
        WHERE e.user_id > '' ORDER BY e.user_id, e.client_id LIMIT 1
        """)
    static let nextErasureOfUser = SQLStatement(
        """
        SELECT e.user_id, e.client_id, e.since, u.deleted_at FROM erasures e JOIN users u ON u.id = e.user_id
        WHERE e.user_id = $1 ORDER BY e.client_id LIMIT 1
        """)
    static let endErasure = SQLStatement("DELETE FROM erasures WHERE user_id = $1 AND client_id = $2 AND since = $3")
    /// The server's own questions, about new devices, are erased only when the user is deleted.
    ///
    /// A message may be the text that replaces others, so that it alone does not say what is erased.
    static let eraseChallenges = SQLStatement(
        """
        UPDATE challenges SET message = $4, alert = $4, details = '[]', signing_data = NULL, context = NULL,
          client_state = NULL, locale = NULL, browser = NULL
        WHERE id IN (SELECT id FROM challenges WHERE user_id = $1 AND client_id = $2 AND asked_at <= $3
          AND state <> 'pending' AND (message <> $4 OR alert <> $4 OR details <> '[]' OR signing_data IS NOT NULL
          OR context IS NOT NULL OR client_state IS NOT NULL OR locale IS NOT NULL OR browser IS NOT NULL)
          AND (purpose <> 'new_device' OR $5 = 1) LIMIT $6)
        """)
    static let personalEvents = SQLStatement(
        "SELECT sequence, detail FROM audit WHERE user_id = $1 AND detail LIKE $2 ORDER BY sequence LIMIT $3")
    static let putDetail = SQLStatement("UPDATE audit SET detail = $2 WHERE sequence = $1")
    static let forgetBrowsers = SQLStatement("DELETE FROM known_browsers WHERE user_id = $1")
    static let forgetAnswers = SQLStatement("DELETE FROM answers WHERE enrollment_id = $1")
}

/// Retention: deletes what is no longer kept, and erases the data of deleted users.
extension SQLTransaction {
    func deleteChallenges(endedBefore time: Timestamp, limit: Int) throws -> Int {
        let ids = try all(
            Statements.endedChallenges, [.text(Self.firstID(at: time)), time.value, .integer(Int64(limit))]
        ) { try $0.text(0) }
        for id in ids {
            try connection.send(Statements.deleteTargets, [.text(id)])
            try connection.send(Statements.deleteChallenge, [.text(id)])
        }
        return ids.count
    }

    func deleteReceipts(acceptedBefore time: Timestamp, limit: Int) throws -> Int {
        try connection.execute(
            Statements.deleteReceipts, [.text(Self.firstID(at: time)), time.value, .integer(Int64(limit))])
    }

    func deleteEvents(before time: Timestamp, limit: Int) throws -> Int {
        try connection.execute(Statements.deleteEvents, [time.value, .integer(Int64(limit))])
    }

    /// The smallest id of a challenge asked at this time.
    private static func firstID(at time: Timestamp) -> String {
        "\(ChallengeID(at: time, random: [UInt8](repeating: 0, count: 10)))"
    }

    func put(of user: UserID, by client: ClientID, at time: Timestamp) throws {
        try connection.send(Statements.putErasure, [user.value, client.value, time.value])
    }

    func putAll(of user: UserID, at time: Timestamp) throws {
        try connection.send(Statements.putErasures, [user.value, time.value])
    }

    func next(of user: UserID?) throws -> Erasure? {
        let statement = user == nil ? Statements.nextErasure : Statements.nextErasureOfUser
        return try first(statement, user.map { [$0.value] } ?? []) { row in
            Erasure(
                user: try row.id(0), client: try row.id(1), since: try row.time(2),
                isDeleted: try row.optionalTime(3) != nil)
        }
    }

    func erase(_ erasure: Erasure, limit: Int) throws -> Int {
        let count = try connection.execute(
            Statements.eraseChallenges,
            [
                erasure.user.value, erasure.client.value, erasure.since.value, .text(ErasedText.text),
                .integer(erasure.isDeleted ? 1 : 0), .integer(Int64(limit)),
            ])
        guard erasure.isDeleted else { return count }
        return try ErasedText.members.reduce(count) { try $0 + erase($1, fromEventsOf: erasure.user, limit: limit) }
    }

    /// Removes a member from the details of a batch of a user's events.
    private func erase(_ member: String, fromEventsOf user: UserID, limit: Int) throws -> Int {
        let events = try all(
            Statements.personalEvents, [user.value, .text("%\"\(member)\":%"), .integer(Int64(limit))]
        ) { row in
            let detail = try row.value(1) { try? JSONValue(parsing: Array($0.utf8)).object }
            return (sequence: try row.integer(0), detail: detail)
        }
        for (sequence, detail) in events {
            var detail = detail
            detail[member] = nil
            try connection.send(Statements.putDetail, [.integer(sequence), .text(JSONValue.object(detail).text)])
        }
        return events.count
    }

    func delete(_ erasure: Erasure) throws {
        try connection.send(
            Statements.endErasure, [erasure.user.value, erasure.client.value, erasure.since.value])
    }

    func deleteAll(of user: UserID) throws {
        try connection.send(Statements.forgetBrowsers, [user.value])
    }

    func deleteAll(by enrollment: EnrollmentID) throws {
        try connection.send(Statements.forgetAnswers, [enrollment.value])
    }
}
