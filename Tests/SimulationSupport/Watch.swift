import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings

/// Checks the invariants after each commit, and everything at the end of the simulation.
///
/// Triggers on the connection record what a commit has changed, so that a check reads only that.
final class Watch {
    private static let noted = SQLStatement("SELECT what, id, other FROM temp.noted ORDER BY rowid")
    private static let forget = SQLStatement("DELETE FROM temp.noted")
    /// How soon waiting parties must learn of an end if there is no fault in between.
    private static let promptness = Duration.seconds(6)

    unowned let world: SimulatedWorld
    /// When challenges ended.
    private var endedAt: [ChallengeID: Duration] = [:]
    /// The users, with client, who must not be asked because of a report; a code reaches only users who look.
    var locked: Set<String> = []

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    /// Creates the triggers, after the schema exists.
    func install() throws {
        let ended = "('approved', 'denied', 'failed', 'cancelled', 'expired')"
        let triggers = [
            "CREATE TEMP TABLE noted (what TEXT NOT NULL, id TEXT NOT NULL, other TEXT)",
            trigger(
                "asked", "AFTER INSERT ON challenges", "new.id",
                "CASE WHEN new.purpose = 'relying_party' AND new.channel <> 'code' THEN new.client_id || ' ' || coalesce(new.user_id, '') END"
            ),
            trigger(
                "end changed", "AFTER UPDATE OF state, reason, ended_at ON challenges WHEN old.state IN \(ended)",
                "new.id", "old.state || ' ' || new.state"),
            trigger(
                "ended", "AFTER UPDATE OF state ON challenges WHEN old.state = 'pending' AND new.state IN \(ended)",
                "new.id", "new.state"),
            trigger(
                "claimed twice", "AFTER UPDATE OF claimed_at ON challenges WHEN old.claimed_at IS NOT NULL", "new.id",
                "NULL"
            ),
            trigger("enrolled", "AFTER INSERT ON enrollments", "new.id", "new.user_id"),
            trigger(
                "removed", "AFTER UPDATE OF removed_at ON enrollments WHEN old.removed_at IS NULL", "new.id",
                "new.removal_reason"),
            trigger(
                "came back", "AFTER UPDATE OF removed_at ON enrollments WHEN old.removed_at IS NOT NULL", "new.id",
                "NULL"),
            trigger("wrong PIN", "AFTER UPDATE OF wrong_pins ON enrollments", "new.id", "new.wrong_pins"),
            trigger("unlocked", "AFTER DELETE ON asking_locks", "old.user_id", "old.client_id"),
            trigger("deleted", "AFTER UPDATE OF deleted_at ON users WHEN old.deleted_at IS NULL", "new.id", "NULL"),
            trigger("let go", "AFTER DELETE ON user_links", "old.user_id", "old.client_id"),
            trigger(
                "spent", "AFTER UPDATE OF spent_at ON tickets WHEN old.spent_at IS NOT NULL", "hex(new.hash)", "NULL"),
        ]
        for trigger in triggers + triggersOfSignIns + triggersOfGrants + triggersOfServers {
            try world.database.look { _ = try $0.execute(SQLStatement(trigger), []) }
        }
        world.database.afterCommit = { [unowned self] in try look($0) }
    }

    func trigger(_ what: String, _ event: String, _ id: String, _ other: String) -> String {
        """
        CREATE TEMP TRIGGER "\(what)" \(event)
        BEGIN INSERT INTO noted (what, id, other) VALUES ('\(what)', \(id), \(other)); END
        """
    }

    private func look(_ connection: any SQLConnection) throws {
        let rows = try connection.rows(Self.noted, [])
        guard !rows.isEmpty else { return }
        try connection.execute(Self.forget, [])
        for row in rows {
            let (what, id, other) = (try row.text(0), try row.text(1), try row.optionalText(2) ?? "")
            world.trace.note("commit", "\(what) \(id) \(other)")
            switch what {
            case "end changed": world.violate(1, "the end of \(id) changed: \(other)")
            case "ended":
                try ended(id, connection)
                try endedForServer(id, other, connection)
            case "asked":
                if locked.contains(other) { world.violate(8, "\(id) was asked of a user who is locked for its client") }
                try asked(id, connection)
                try askedByServer(id, connection)
            case "claimed twice": world.violate(5, "the code of \(id) was presented by two")
            case "came back": world.violate(7, "\(id) was removed and came back")
            case "removed": try removed(id, connection)
            case "enrolled": world.ledger.counts.enrolled += 1
            case "wrong PIN": try wrongPIN(id, connection)
            case "unlocked": locked.remove("\(other) \(id)")
            case "deleted", "let go": try letGo(id, by: what == "deleted" ? nil : other, connection)
            case "spent": world.violate(5, "a ticket was spent twice")
            default: try lookAtSignIn(what, id, other, connection)
            }
        }
    }

    private func ended(_ id: String, _ connection: any SQLConnection) throws {
        if let id = ChallengeID(id) { endedAt[id] = world.scheduler.elapsed }
        world.ledger.counts.ended += 1
        let row = try connection.rows(
            SQLStatement(
                """
                SELECT c.state, c.method, c.decided_by, c.ended_at, e.removed_at, e.suspended_at, e.counts_from,
                (SELECT count(*) FROM receipts r WHERE r.challenge_id = c.id),
                (SELECT count(*) FROM challenge_targets t WHERE t.challenge_id = c.id AND t.enrollment_id = c.decided_by),
                e.user_id = c.user_id, c.expires_at, c.reason, c.client_id || ' ' || coalesce(c.user_id, ''), c.new_device_id,
                CASE c.method WHEN 'pin' THEN e.pin_counts_from WHEN 'biometric' THEN e.biometric_counts_from END,
                c.return_uri, c.client_state, c.purpose, e.created_at
                FROM challenges c LEFT JOIN enrollments e ON e.id = c.decided_by WHERE c.id = $1
                """), [.text(id)]
        ).first
        guard let row else { return }
        let (state, decidedBy) = (try row.text(0), try row.optionalText(2))
        let (method, browser) = (try row.optionalText(1) ?? "", try row.optionalText(16).flatMap(browser))
        if let browser {
            let sitter = "\(browser) \(try row.text(12))"
            if state == "approved", method != "text_code" { world.ledger.known.insert(sitter) }
            if try row.optionalText(11) == "reported" { world.ledger.known.remove(sitter) }
        }
        if state == "approved" {
            let shown = [
                method == "text_code" ? "code of \(id)" : nil,
                try row.optionalText(15) == nil ? nil : "way back of \(id)",
                method.hasPrefix("custom:") ? "verdict on \(id) of \(decidedBy ?? "-")" : nil,
            ]
            for proof in shown.compactMap(\.self) where !world.ledger.shown.contains(proof) {
                world.violate(2, "\(id) is approved without the \(proof)")
            }
            world.ledger.counts.entered += method == "text_code" ? 1 : 0
            world.ledger.counts.released += try row.optionalText(15) == nil ? 0 : 1
            world.ledger.counts.judged += method.hasPrefix("custom:") ? 1 : 0
        }
        if state == "approved" || state == "denied", method != "text_code" {
            guard let decidedBy else { return world.violate(2, "\(id) is \(state) by no device") }
            guard try row.optionalInteger(4) == nil else {
                return world.violate(7, "\(decidedBy), which is removed, decided \(id)")
            }
            guard try row.optionalInteger(5) == nil else {
                return world.violate(2, "\(decidedBy), which is suspended, decided \(id)")
            }
            // A node whose clock is ahead makes a device in the future; another one lets it in at once.
            // What waits for its way back was answered before, and a node whose clock is five minutes behind ends it.
            let behind: Int64 = try row.optionalText(15) == nil || world.ledger.clockSteps == 0 ? 0 : 310_000
            let decidedAt = try max(row.integer(3) + behind, row.integer(18))
            // It may deny what it was asked, also by a node whose clock is behind.
            guard try state == "denied" || row.integer(6) <= decidedAt else {
                return world.violate(2, "\(decidedBy), which does not count yet, decided \(id)")
            }
            guard try row.optionalInteger(14) ?? 0 <= decidedAt else {
                return world.violate(2, "\(id) is approved by a \(method) that does not count yet")
            }
            guard try row.integer(8) == 1, try row.integer(9) == 1 else {
                return world.violate(2, "\(decidedBy), which was not asked, decided \(id)")
            }
            guard try row.integer(3) < row.integer(10) else {
                return world.violate(13, "\(id) was decided after it was over")
            }
        }
        // Who reports a sign-in, which anybody can begin, locks no client.
        if try row.optionalText(11) == "reported", try row.text(17) == "relying_party" {
            locked.insert(try row.text(12))
        }
        if state == "approved", method != "text_code", try row.integer(7) != 1 {
            world.violate(2, "\(id) is approved without a receipt")
        }
        if method == "text_code" || (state != "approved" && state != "denied"), try row.integer(7) != 0 {
            world.violate(2, "\(id) is \(state) and has a receipt")
        }
    }

    private func removed(_ id: String, _ connection: any SQLConnection) throws {
        world.ledger.counts.removed += 1
        try noTokens(ofDevice: id, connection)
        let left = try connection.rows(
            SQLStatement(
                """
                SELECT c.id FROM enrollments r JOIN challenge_targets t ON t.enrollment_id = r.id
                JOIN challenges c ON c.id = t.challenge_id
                WHERE r.id = $1 AND c.state = 'pending' AND c.expires_at > r.removed_at AND c.purpose = 'relying_party'
                AND NOT EXISTS (
                  SELECT 1 FROM challenge_targets o JOIN enrollments e ON e.id = o.enrollment_id
                  WHERE o.challenge_id = c.id AND e.removed_at IS NULL)
                """), [.text(id)])
        for row in left { world.violate(7, "\(try row.text(0)) is open, and \(id) was removed, which was asked last") }
    }

    private func asked(_ id: String, _ connection: any SQLConnection) throws {
        let row = try connection.rows(
            SQLStatement(
                """
                SELECT (SELECT count(*) FROM challenges o WHERE o.user_id = c.user_id AND o.client_id = c.client_id
                 AND o.state = 'pending' AND o.expires_at > c.asked_at AND o.purpose = 'relying_party' AND o.channel <> 'code'),
                c.new_device_id, c.channel = 'code', l.disabled_at, l.deleted_at, u.deleted_at, c.type, c.client_state,
                c.client_id || ' ' || coalesce(c.user_id, '')
                FROM challenges c JOIN clients l ON l.id = c.client_id LEFT JOIN users u ON u.id = c.user_id WHERE c.id = $1
                """), [.text(id)]
        ).first
        guard let row, try row.optionalText(1) == nil else { return }
        // The four servers' clocks differ by seconds, so a challenge that one takes for expired may be open for
        // another.
        if world.ledger.clockSteps == 0, try row.integer(2) == 0, try row.integer(0) > 5 {
            world.violate(6, "\(id) is one of \(try row.integer(0)) open questions")
        }
        if try row.optionalInteger(3) != nil || row.optionalInteger(4) != nil || row.optionalInteger(5) != nil {
            world.violate(7, "\(id) was asked by a client that is let in nowhere, or of a user who is deleted")
        }
        let key = try row.optionalText(7) ?? ""
        if try row.text(6) == "page", let browser = browser(key),
            !world.ledger.known.contains("\(browser) \(try row.text(8))")
        {
            world.violate(8, "\(id) was asked from a browser from which nothing was approved")
        }
        if try row.text(6) == "text", let number = world.ledger.telephones[key], world.ledger.clockSteps == 0 {
            let what = "codes to \(number) within an hour"
            world.blame(
                world.ledger.count(what, atMost: 5, each: .seconds(3595), at: world.scheduler.elapsed))
        }
    }

    /// The client's name for the browser of a request, by the request's key.
    private func browser(_ key: String) -> String? { world.ledger.browsers[key] }

    /// Checks that no challenge is open after a user was deleted or unlinked from a client.
    private func letGo(_ user: String, by client: String?, _ connection: any SQLConnection) throws {
        let open = try connection.rows(
            SQLStatement(
                """
                SELECT id FROM challenges WHERE user_id = $1 AND state = 'pending'
                AND ($2 = '' OR client_id = $2 AND purpose = 'relying_party')
                UNION ALL SELECT id FROM enrollments WHERE user_id = $1 AND removed_at IS NULL AND $2 = ''
                """), [.text(user), .text(client ?? "")])
        for row in open { world.violate(7, "\(try row.text(0)) is there, and \(user) was let go") }
        try noTokens(of: user, at: client, connection)
        try noGrants(of: user, at: client, connection)
    }

    private func wrongPIN(_ id: String, _ connection: any SQLConnection) throws {
        let rows = try connection.rows(
            SQLStatement("SELECT wrong_pins, coalesce(pin_locked_at, removed_at) FROM enrollments WHERE id = $1"),
            [.text(id)])
        guard let row = rows.first else { return }
        let count = try row.integer(0)
        if count > 0 { world.ledger.counts.wrongPINs += 1 }
        if count > 5 { world.violate(6, "\(id) has \(count) wrong PINs in a row") }
        if count == 5, try row.optionalInteger(1) == nil {
            world.violate(6, "\(id) is not locked by its last wrong PIN")
        }
    }

    /// Checks that no challenge of a disabled client is open.
    func nothingOpen(of client: ClientID) throws {
        let open = SQLStatement(
            "SELECT id FROM challenges WHERE client_id = $1 AND state = 'pending' AND purpose = 'relying_party'")
        for row in try world.database.look({ try $0.rows(open, [.text("\(client)")]) }) {
            world.violate(7, "\(try row.text(0)) is open, though its client is disabled")
        }
    }

    /// Records that a waiting party was told of an end, and checks how soon.
    func heard(of id: ChallengeID, since began: Duration, by node: Node) {
        guard let ended = endedAt[id], node.disturbedAt < began, world.ledger.clockSteps == 0 else { return }
        let late = world.scheduler.elapsed - max(ended, began)
        if late > Self.promptness {
            world.violate(10, "\(node.name) told of the end of \(id) \(late.milliseconds) ms late")
        }
    }

    // In the end

    /// Checks everything after a time without faults and new challenges.
    func end() throws {
        try world.database.look { connection in
            try nothingLeft(connection)
            try everythingTold(connection)
            try keysOnce(connection)
            try callbacks(connection)
            try serversTold(connection)
            try audit(connection)
            try nothingSecret(connection)
        }
    }

    private func count(_ connection: any SQLConnection, _ text: String) throws -> Int64 {
        try connection.rows(SQLStatement("SELECT count(*) FROM \(text)"), []).first?.integer(0) ?? -1
    }

    private func nothingLeft(_ connection: any SQLConnection) throws {
        let pending = try connection.rows(
            SQLStatement("SELECT id, expires_at, new_device_id FROM challenges WHERE state = 'pending'"), [])
        for row in pending where try row.integer(1) < world.now.milliseconds - 60_000 {
            world.violate(0, "\(try row.text(0)) is over and has not ended")
        }
        for row in try connection.rows(
            SQLStatement("SELECT id, kind, attempts, due_at, last_error FROM outbox WHERE state = 'waiting'"), [])
        {
            world.violate(
                0,
                "message \(try row.text(0)) (\(try row.text(1))) was not delivered after \(try row.integer(2)) attempts: \(try row.optionalText(4) ?? "-")"
            )
        }
        for row in try connection.rows(
            SQLStatement("SELECT id FROM outbox WHERE state = 'dead' AND coalesce(last_error, '') = ''"), [])
        {
            world.violate(0, "message \(try row.text(0)) was given up without a reason")
        }
        let waits = try count(
            connection, "waits w JOIN enrollments e ON e.id = w.enrollment_id WHERE e.removed_at IS NOT NULL")
        if waits != 0 { world.violate(0, "\(waits) waits of removed devices are left") }
    }

    private func everythingTold(_ connection: any SQLConnection) throws {
        for (id, end) in world.ledger.ends.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let rows = try connection.rows(
                SQLStatement("SELECT state, reason FROM challenges WHERE id = $1"), [.text("\(id)")])
            guard let row = rows.first else {
                world.violate(3, "\(end.who) was told of \(id), which is not there")
                continue
            }
            var reason = try row.optionalText(1)
            if try row.text(0) != "failed", reason != "declined", reason != "reported" { reason = nil }
            let kept = Ledger.Told(state: try row.text(0), reason: reason)
            guard kept.state == end.told.state else {
                world.violate(3, "\(end.who) was told that \(id) is \(end.told.state), and it is \(kept.state)")
                continue
            }
        }
        for (key, id) in world.ledger.asked.sorted(by: { $0.key < $1.key })
        where try connection.rows(SQLStatement("SELECT 1 FROM challenges WHERE id = $1"), [.text("\(id)")]).isEmpty {
            world.violate(3, "what \(key) asked, \(id), is not there")
        }
        for user in world.users {
            for (enrollment, phone) in user.told.sorted(by: { "\($0.key)" < "\($1.key)" })
            where try connection.rows(
                SQLStatement("SELECT 1 FROM enrollments WHERE id = $1"), [.text("\(enrollment)")]
            ).isEmpty {
                world.violate(3, "\(phone) was told that it is \(enrollment), which is not there")
            }
        }
    }

    private func keysOnce(_ connection: any SQLConnection) throws {
        for row in try connection.rows(
            SQLStatement(
                """
                SELECT client_state, count(*) FROM challenges WHERE client_state IS NOT NULL
                GROUP BY client_state HAVING count(*) > 1
                """), [])
        { world.violate(4, "\(try row.text(0)) has asked \(try row.integer(1)) times") }
    }

    private func callbacks(_ connection: any SQLConnection) throws {
        var byChallenge: [String: [Ledger.Arrived]] = [:]
        for arrived in world.ledger.callbacks.values {
            guard let challenge = arrived.challenge else { continue }
            byChallenge[challenge, default: []].append(arrived)
        }
        for (challenge, arrived) in byChallenge.sorted(by: { $0.key < $1.key }) {
            if arrived.count > 1 { world.violate(9, "\(arrived.count) callbacks tell of \(challenge)") }
            let state = try connection.rows(
                SQLStatement("SELECT state FROM challenges WHERE id = $1"), [.text(challenge)]
            ).first?.text(0)
            if state != arrived[0].told?.state {
                world.violate(
                    9,
                    "a callback tells that \(challenge) is \(arrived[0].told?.state ?? "-"): it is \(state ?? "not there")"
                )
            }
        }
        let dead = try count(connection, "outbox WHERE state = 'dead' AND kind = 'callback'")
        let due = try connection.rows(
            SQLStatement("SELECT id FROM challenges WHERE state <> 'pending' AND callback_uri IS NOT NULL ORDER BY id"),
            [])
        let missing = try due.filter { row in
            let id = try row.text(0)
            return !(byChallenge[id]?.contains { $0.isTaken } ?? false)
        }
        if missing.count > dead, let first = missing.first {
            world.violate(9, "no callback told of \(try first.text(0))")
        }
    }

    private func audit(_ connection: any SQLConnection) throws {
        let ends = try connection.rows(
            SQLStatement(
                """
                SELECT c.id, (SELECT count(*) FROM audit a WHERE a.challenge_id = c.id AND a.kind IN
                  ('challenge.approved', 'challenge.denied', 'challenge.reported', 'challenge.failed',
                   'challenge.cancelled', 'challenge.expired')),
                (SELECT count(*) FROM audit a WHERE a.challenge_id = c.id AND a.kind = 'challenge.asked')
                FROM challenges c WHERE c.state <> 'pending' ORDER BY c.id
                """), [])
        for row in ends where try row.integer(1) != 1 || row.integer(2) != 1 {
            world.violate(
                12,
                "the audit has \(try row.integer(2)) beginnings and \(try row.integer(1)) ends of \(try row.text(0))")
        }
        for row in try connection.rows(
            SQLStatement(
                """
                SELECT e.id, e.removed_at IS NOT NULL,
                (SELECT count(*) FROM audit a WHERE a.enrollment_id = e.id AND a.kind = 'enrollment.created'),
                (SELECT count(*) FROM audit a WHERE a.enrollment_id = e.id AND a.kind = 'enrollment.removed')
                FROM enrollments e ORDER BY e.id
                """), []) where try row.integer(2) != 1 || row.integer(3) != row.integer(1)
        {
            world.violate(
                12,
                "the audit tells \(try row.integer(2)) times that \(try row.text(0)) was enrolled, \(try row.integer(3)) times that it was removed"
            )
        }
        guard let auditor = world.ledger.auditor else { return }
        let all = try connection.rows(SQLStatement("SELECT sequence, id FROM audit ORDER BY sequence"), [])
        let read = Set(auditor.read)
        for row in all where try row.integer(0) <= auditor.sequence && !read.contains(row.text(1)) {
            world.violate(12, "who reads the audit with a cursor has missed \(try row.text(1))")
        }
        if read.count != auditor.read.count { world.violate(12, "who reads the audit with a cursor was told twice") }
    }

    private func nothingSecret(_ connection: any SQLConnection) throws {
        let details = try connection.rows(SQLStatement("SELECT detail FROM audit"), []).map { try $0.text(0) }
        for text in details + world.log.lines {
            for word in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
            where world.ledger.secrets.contains(String(word)) {
                world.violate(11, "a secret stands in “\(text)”")
            }
        }
    }
}
