import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import Logging

/// Violations that are produced by hand, for tests of the checks.
extension SimulatedWorld {
    /// Something that the test needs does not exist in this run.
    package struct Missing: Error {
        package let what: String

        /// An error that names it.
        package init(what: String) { self.what = what }
    }

    /// Changes the database in a commit that is checked.
    ///
    /// - Parameters:
    ///   - statements: the statements, which run in order.
    ///   - ids: the values of `$1`, `$2`, …
    package func commit(_ statements: String..., of ids: String...) throws {
        try database.transaction(isKept: true) { connection in
            for text in statements {
                let arguments = ids.enumerated().filter { text.contains("$\($0.offset + 1)") }.map(\.element)
                _ = try connection.execute(SQLStatement(text), arguments.map(SQLValue.text))
            }
        }
    }

    /// The first id that a query returns.
    package func some(_ query: String) throws -> String {
        let rows = try database.look { try $0.rows(SQLStatement("SELECT id FROM \(query) LIMIT 1"), []) }
        guard let row = rows.first else { throw Missing(what: query) }
        return try row.text(0)
    }

    /// Copies a challenge with changes; no party is told of the copy.
    ///
    /// - Parameters:
    ///   - id: the original challenge.
    ///   - changes: the differences, in SQL.
    /// - Returns: the id of the copy.
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

    /// Tells a party the state of a challenge.
    package func hears(_ who: String, of challenge: String, state: String, reason: String? = nil) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        tell(who, of: id, Ledger.Told(state: state, reason: reason))
    }

    /// Tells a portal that its request became a challenge.
    package func hears(of challenge: String, askedBy key: String) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        blame(ledger.ask(key, became: id))
    }

    /// Tells a phone that it is enrolled.
    package func hears(ofEnrollment enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        users[0].told[id] = "a phone"
    }

    /// Tells the waiting parties of an end too late.
    package func hearsLate(of challenge: String) {
        guard let id = ChallengeID(challenge) else { return violate(0, "\(challenge) is no challenge") }
        watch.heard(of: id, since: .milliseconds(1), by: nodes[0])
    }

    /// Delivers a callback.
    package func brings(_ id: String, body: String, of challenge: String, state: String) {
        blame(
            ledger.arrive(
                id,
                Ledger.Arrived(
                    body: Array(body.utf8), challenge: challenge, told: Ledger.Told(state: state, reason: nil),
                    isTaken: true)))
    }

    /// Accepts a request with a nonce.
    package func letsIn(_ nonce: String, by enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        blame(ledger.use(nonce, by: id))
    }

    /// Gives a party a secret, and has a node log a line.
    package func gives(_ secret: String, andLogs line: String) {
        ledger.keepSecret(secret)
        log.logger.notice("\(line)")
    }

    /// Tells the reader of the audit of an event.
    package func reads(_ event: String) { ledger.auditor?.hear(event) }

    /// Accepts a code.
    package func works(_ code: String) { blame(ledger.use(code)) }

    /// Gives tokens for a code.
    package func redeems(_ code: String) { blame(ledger.redeem(code)) }

    /// Tells a client that tokens are good.
    package func uses(_ family: String) {
        blame(ledger.use(family: family, wasWithdrawn: ledger.withdrawn.contains(family)))
    }

    /// Tells a client that its request has ended.
    package func ends(_ request: String) {
        ledger.servers.end(request, "that it is over", at: scheduler.elapsed, isWritten: true)
    }

    /// Tells a client that it has taken its request back.
    package func takesBack(_ request: String) throws {
        guard let id = AuthorizationID(request) else { return violate(0, "\(request) is no request") }
        _ = try watch.isTakenBack(id, at: Timestamp(milliseconds: 0))
    }

    /// Brings a client tokens for its request that are somebody else's.
    package func pushes(for request: String) throws {
        guard let id = AuthorizationID(request) else { return violate(0, "\(request) is no request") }
        let claims: JSONValue = ["jti": "somebody's.1", "sub": "somebody"]
        let token = "e30.\(Base64URL.encode(claims.encoded)).e30"
        try watch.areStored(["access_token": .string(token), "id_token": .string(token)], for: id, isPushed: true)
    }

    /// Gives tokens for details that were asked for.
    ///
    /// - Parameters:
    ///   - hasThem: whether the tokens have them.
    package func authorizes(hasThem: Bool) throws {
        let details = try AuthorizationDetails(
            #"[{"type":"payment","amount":"EUR 1.00","creditor":{"name":"ACME"}}]"#, of: Portal.detailTypes)
        watch.authorizes("somebody's", [hasThem ? details.json : nil], for: details, by: nil)
    }

    /// Has a limited event happen.
    package func happens(_ what: String, atMost limit: Int) { blame(ledger.count(what, atMost: limit)) }

    /// Sets the browser of a request, and the telephone for its code.
    package func expects(_ key: String) {
        ledger.browsers[key] = "a browser"
        ledger.telephones[key] = users[0].telephone
    }

    /// Checks the first client as if it had just been disabled, whatever is open.
    package func disables() throws { try watch.nothingOpen(of: portals[0].client.id) }

    /// Checks an enrollment as if a thief had made it since the beginning of the simulation.
    package func steals(_ enrollment: String) {
        guard let id = EnrollmentID(enrollment) else { return violate(0, "\(enrollment) is no enrollment") }
        Thief(self).check([id], since: now, waiting: Portal.coolingOffs[0], isFirst: nil)
    }
}
