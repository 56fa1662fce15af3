import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings

/// The fifteenth invariant where clients' servers ask: tokens come only of a yes that counted, once for each request, and
/// not after anybody was told that the request has ended; nobody is asked without their code, or beyond the limits.
extension Watch {
    /// How many questions of one client's server may be open at a user's devices.
    private static let openQuestions: Int64 = 3
    /// How many questions of servers may come to a user in an hour without a yes.
    private static let questions = 10

    /// The triggers for tokens that end.
    var triggersOfServers: [String] {
        [
            trigger(
                "tokens ended",
                "AFTER UPDATE OF ended_at ON token_families WHEN old.ended_at IS NULL AND new.ended_at IS NOT NULL",
                "new.id", "new.reason")
        ]
    }

    /// Checks what a trigger has noted about the tokens of clients' servers.
    func lookAtServers(_ what: String, _ id: String, _ other: String, _ connection: any SQLConnection) throws {
        guard what == "tokens ended", other == "code_reused" else { return }
        let clients = try connection.rows(
            SQLStatement("SELECT client_id FROM token_families WHERE id = $1 AND session_id = ''"), [.text(id)])
        for row in clients {
            guard let server = try centre(row.text(0)), server.mode != .poll else { continue }
            world.violate(15, "\(id) has ended, because its client was told of it twice")
        }
    }

    private func centre(_ client: String) -> CallCentre? {
        world.callCentres.first { "\($0.client.client.id)" == client }
    }

    private var areClocksRight: Bool { world.ledger.clockSteps == 0 }

    // Questions

    /// Checks that a user may be asked what a client's server asks.
    func askedByServer(_ id: String, _ connection: any SQLConnection) throws {
        let row = try connection.rows(
            SQLStatement(
                """
                SELECT c.client_id, c.user_id, c.alert, u.user_code IS NOT NULL,
                (SELECT count(*) FROM challenges o WHERE o.user_id = c.user_id AND o.client_id = c.client_id
                 AND o.purpose = c.purpose AND o.state = 'pending' AND o.expires_at > c.asked_at + 1000),
                (SELECT t.window_ends_at FROM attempts t WHERE t.key = 'backchannel ' || c.user_id)
                FROM challenges c JOIN users u ON u.id = c.user_id WHERE c.id = $1 AND c.authorization_id IS NOT NULL
                """), [.text(id)]
        ).first
        guard let row, try centre(row.text(0)) != nil else { return }
        world.ledger.counts.askedByServers += 1
        let (user, text) = try (row.text(1), row.text(2))
        if locked.contains("\(try row.text(0)) \(user)") {
            world.violate(8, "\(id) was asked for a server that its user has reported")
        }
        // Who has set a code is asked with it alone, and who has set none is not asked by it.
        let brought = world.ledger.servers.brought[text] ?? .nothing
        if try brought != (row.integer(3) == 1 ? .rightCode : .nothing) {
            world.violate(15, "\(id) was asked, and the code that was brought is not that of \(user)")
        }
        if areClocksRight, try row.integer(4) > Self.openQuestions {
            world.violate(6, "\(id) is one of \(try row.integer(4)) open questions of a server")
        }
        // A yes ends the hour, and the next one has another end.
        if let window = try row.optionalInteger(5) {
            world.blame(
                world.ledger.count("questions of servers to \(user) until \(window)", atMost: Self.questions))
        }
    }

    /// Checks that a request has ended as its question has.
    func endedForServer(_ id: String, _ state: String, _ connection: any SQLConnection) throws {
        let row = try connection.rows(
            SQLStatement(
                """
                SELECT c.client_id, c.user_id, c.reason, a.id, a.state,
                a.ask_challenge_id = c.id AND a.expires_at > c.ended_at
                FROM challenges c JOIN authorizations a ON a.id = c.authorization_id WHERE c.id = $1
                """), [.text(id)]
        ).first
        guard let row, try centre(row.text(0)) != nil else { return }
        if try row.optionalText(2) == "reported" { locked.insert("\(try row.text(0)) \(try row.text(1))") }
        // What is over when the answer comes stays as it is.
        guard try row.optionalInteger(5) == 1, let expected = Self.states[state], try row.text(4) != expected
        else { return }
        world.violate(15, "\(id) is \(state), and \(try row.text(3)) is \(try row.text(4))")
    }

    /// How a request stands after its question has ended so; nothing of what leaves it as it was.
    private static let states = ["approved": "authenticated", "denied": "refused", "failed": "refused"]

    /// Checks that a yes comes before anybody was told that its request has ended.
    func yes(to request: String) {
        guard let words = told(of: request) else { return }
        world.violate(15, "a yes to \(request) came after its client had been told \(words)")
    }

    private func told(of request: String) -> String? {
        world.ledger.servers.end(of: request, at: world.scheduler.elapsed, areClocksRight: areClocksRight)
    }

    // Tokens

    /// Checks that tokens are given to a client's server by a yes of their user's device, before the end, and once.
    func givenToServer(_ id: String, _ connection: any SQLConnection) throws {
        world.ledger.counts.givenToServers += 1
        let rows = try connection.rows(
            SQLStatement(
                """
                SELECT a.id, f.created_at < a.expires_at FROM token_families f
                JOIN authorizations a ON a.family_id = f.id AND a.user_id = f.user_id AND a.client_id = f.client_id
                JOIN challenges c ON c.id = a.ask_challenge_id AND c.authorization_id = a.id
                 AND c.user_id = f.user_id AND c.decided_by = f.enrollment_id
                JOIN receipts r ON r.challenge_id = c.id AND r.enrollment_id = f.enrollment_id
                WHERE f.id = $1 AND a.state = 'redeemed' AND c.state = 'approved'
                """), [.text(id)])
        guard let row = rows.first else {
            return world.violate(15, "\(id) was given to a server, and no device of its user has said yes")
        }
        let request = try row.text(0)
        if try row.integer(1) != 1 { world.violate(15, "\(id) was given for \(request) after its end") }
        if let words = told(of: request) {
            world.violate(15, "\(id) was given for \(request), whose client had been told \(words)")
        }
        world.blame(world.ledger.servers.give(id, for: request))
    }

    /// Checks that the tokens that a client gets are those that are stored for its request.
    func areStored(_ tokens: JSONValue, for request: AuthorizationID, isPushed: Bool = false) throws {
        let row = try world.database.look { connection in
            try connection.rows(
                SQLStatement(
                    """
                    SELECT f.id, f.user_id, f.client_id, f.scopes, f.authentication FROM authorizations a
                    JOIN token_families f ON f.id = a.family_id WHERE a.id = $1
                    """), [.text("\(request)")]
            ).first
        }
        // The user was deleted meanwhile.
        guard let row else { return }
        let access = tokens["access_token"]?.string.flatMap(Self.claims)
        let identity = tokens["id_token"]?.string.flatMap(Self.claims)
        let authentication = try JSONValue(parsing: Array(row.text(4).utf8))
        let bound = authentication["jkt"]?.string
        let named = identity?["urn:openid:params:jwt:claim:auth_req_id"]?.string.flatMap(CallCentre.signIn)
        let (family, user, client, scopes) = try (row.text(0), row.text(1), row.text(2), row.text(3))
        let both: [(told: String?, kept: String?)] = [
            (access?["jti"]?.string?.split(separator: ".").first.map(String.init), family),
            (access?["sub"]?.string, user), (identity?["sub"]?.string, user), (access?["client_id"]?.string, client),
            (access?["scope"]?.string, scopes), (tokens["scope"]?.string, scopes),
            (access?["cnf"]?["jkt"]?.string, bound),
            (tokens["token_type"]?.string, bound == nil ? "Bearer" : "DPoP"),
            (named.map { "\($0)" }, isPushed ? "\(request)" : nil),
        ]
        guard both.allSatisfy({ $0.told == $0.kept }) else {
            return world.violate(15, "the tokens for \(request) are not those that are stored")
        }
    }

    /// What a token says, which is not verified.
    static func claims(of token: String) -> JSONValue? {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(String(parts[1])).flatMap { try? JSONValue(parsing: $0) }
    }

    /// Checks that nothing is left of a request that its client was told it has taken back.
    ///
    /// - Returns: whether its end is in the database; a node whose clock is ahead may think that it is over anyway.
    func isTakenBack(_ request: AuthorizationID, at now: Timestamp) throws -> Bool {
        let row = try world.database.look { connection in
            try connection.rows(
                SQLStatement(
                    """
                    SELECT a.state, a.expires_at, f.id IS NOT NULL AND f.ended_at IS NULL
                    FROM authorizations a LEFT JOIN token_families f ON f.id = a.family_id WHERE a.id = $1
                    """), [.text("\(request)")]
            ).first
        }
        guard let row else { return true }
        if try row.integer(2) == 1 { world.violate(15, "\(request) is taken back, and its tokens go on") }
        let isOpen = try ["open", "authenticated"].contains(row.text(0))
        if isOpen, try row.integer(1) > now.milliseconds {
            world.violate(15, "\(request) is taken back, and it is open")
        }
        return !isOpen
    }

    /// Checks in the end that the clients that are told of decisions were told of each yes.
    func serversTold(_ connection: any SQLConnection) throws {
        let due = try connection.rows(
            SQLStatement(
                """
                SELECT a.id, a.client_id FROM authorizations a JOIN challenges c ON c.id = a.ask_challenge_id
                WHERE c.state = 'approved' ORDER BY a.id
                """), [])
        let missing = try due.filter { row in
            guard let server = try centre(row.text(1)), server.mode != .poll else { return false }
            return try !world.ledger.servers.told.contains(row.text(0))
        }
        let dead = try connection.rows(
            SQLStatement("SELECT count(*) FROM outbox WHERE state = 'dead' AND kind = 'backchannel'"), []
        ).first?.integer(0)
        guard missing.count > dead ?? 0, let first = missing.first else { return }
        world.violate(9, "the server that has asked \(try first.text(0)) was not told")
    }
}
