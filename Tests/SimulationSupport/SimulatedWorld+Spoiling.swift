import CountersignCore
import CountersignStorage
import CountersignWire
import Logging

/// Bad histories made by hand, for tests of those who look whether promises hold.
extension SimulatedWorld {
    /// Something that a test needs and that has not come about.
    package struct Missing: Error {
        package let what: String
    }

    /// Changes the database, as a commit that is looked at.
    ///
    /// - Parameters:
    ///   - statements: one after the other.
    ///   - ids: what stands for `$1`, `$2`, …
    package func commit(_ statements: String..., of ids: String...) throws {
        try database.transaction(isKept: true) { connection in
            for text in statements {
                let arguments = ids.enumerated().filter { text.contains("$\($0.offset + 1)") }.map(\.element)
                _ = try connection.execute(SQLStatement(text), arguments.map(SQLValue.text))
            }
        }
    }

    /// The first id that a query finds.
    package func some(_ query: String) throws -> String {
        let rows = try database.look { try $0.rows(SQLStatement("SELECT id FROM \(query) LIMIT 1"), []) }
        guard let row = rows.first else { throw Missing(what: query) }
        return try row.text(0)
    }

    /// Asks once more what was asked before; nobody is told.
    ///
    /// - Parameters:
    ///   - id: of what was asked.
    ///   - changes: what is different, in SQL.
    /// - Returns: the id of the question.
    package func askAgain(_ id: String, with changes: String = "locale = NULL") throws -> String {
        let other = "\(ChallengeID(at: now, random: (0..<10).map { _ in UInt8(draw(0...255)) }))"
        try commit(
            "CREATE TEMP TABLE copied AS SELECT * FROM challenges WHERE id = $1",
            "UPDATE copied SET state = 'pending', reason = NULL, decided_by = NULL, ended_at = NULL, client_state = NULL",
            "UPDATE copied SET \(changes)", of: id)
        try commit("UPDATE copied SET id = $1", of: other)
        try commit(
            "INSERT INTO challenges SELECT * FROM copied", "DROP TABLE copied")
        try commit(
            """
            INSERT INTO challenge_targets (challenge_id, enrollment_id)
            SELECT $1, enrollment_id FROM challenge_targets WHERE challenge_id = $2
            """, of: other, id)
        return other
    }

    /// Has somebody be told how a challenge stands.
    package func hears(_ who: String, of challenge: String, state: String, reason: String? = nil) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        tell(who, of: id, Ledger.Told(state: state, reason: reason))
    }

    /// Has a portal hear that what it asked became a challenge.
    package func hears(of challenge: String, askedBy key: String) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        blame(ledger.ask(key, became: id))
    }

    /// Has a phone be told that it is enrolled.
    package func hears(ofEnrollment enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        users[0].told[id] = "a phone"
    }

    /// Has those who waited for an end hear of it only now.
    package func hearsLate(of challenge: String) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        watch.heard(of: id, since: .milliseconds(1), by: nodes[0])
    }

    /// Brings a callback.
    package func brings(_ id: String, body: String, of challenge: String, state: String) {
        blame(
            ledger.arrive(
                id,
                Ledger.Arrived(
                    body: Array(body.utf8), challenge: challenge, told: Ledger.Told(state: state, reason: nil),
                    isTaken: true)))
    }

    /// Lets a request in.
    package func letsIn(_ nonce: String, by enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        blame(ledger.use(nonce, by: id))
    }

    /// Gives somebody a secret, and has a node log a line.
    package func gives(_ secret: String, andLogs line: String) {
        ledger.keepSecret(secret)
        log.logger.notice("\(line)")
    }

    /// Has who reads the audit be told of an event.
    package func reads(_ event: String) { ledger.auditor?.hear(event) }

    /// Has a code work.
    package func works(_ code: String) { blame(ledger.use(code)) }

    /// Has something happen that may happen so often.
    package func happens(_ what: String, atMost limit: Int) { blame(ledger.count(what, atMost: limit)) }

    /// Has what is asked by a key come from a browser, with a code that goes to a telephone.
    package func expects(_ key: String) {
        ledger.browsers[key] = "a browser"
        ledger.telephones[key] = users[0].telephone
    }

    /// Has the first client be disabled, whatever is open.
    package func disables() throws { try watch.nothingOpen(of: portals[0].client.id) }

    /// Has a thief have made an enrollment since the world began.
    package func steals(_ enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        Thief(self).check([id], since: now, waiting: Portal.coolingOffs[0], isFirst: nil)
    }
}
