import SimulationSupport

/// Histories of what clients' servers ask, and of what is authorized in detail.
extension SimulationTests.InvariantTests {
    /// A question of the server that shows no number, to a user without a code, whose device is there.
    private static let asked = """
        challenges WHERE state = 'approved' AND type = 'tap' AND decided_by IN (SELECT id FROM \(enrolled))
        AND user_id IN (SELECT id FROM users WHERE user_code IS NULL) AND NOT EXISTS (
        SELECT 1 FROM asking_locks l WHERE l.user_id = challenges.user_id AND l.client_id = challenges.client_id)
        """
    /// Tokens that a server has.
    private static let given = "\(good) AND session_id = ''"
    /// Those that were brought.
    private static let pushed = "\(given) AND client_id IN (SELECT client_id FROM challenges WHERE type = 'tap')"
    /// A request for which tokens were given.
    private static let answered = "authorizations WHERE family_id IN (SELECT id FROM \(given))"
    /// The device and the time of the question that is asked once more.
    private static let sameAnswer =
        "(decided_by, ended_at) = (SELECT c.decided_by, c.ended_at FROM challenges c WHERE c.id = copied.id)"

    /// Gives tokens once more.
    ///
    /// - Parameters:
    ///   - changes: how they differ, in SQL.
    ///   - isForRequest: whether they are for the request of the first ones.
    ///   - change: done before.
    private static func giveAgain(
        in world: SimulatedWorld, with changes: String = "id = 'other'", isForRequest: Bool = true,
        after change: (String) -> Void = { _ in }
    ) throws {
        let id = try world.some(given)
        change(try world.some("authorizations WHERE family_id = '\(id)'"))
        try world.commit("CREATE TEMP TABLE copied AS SELECT * FROM token_families WHERE id = $1", of: id)
        if isForRequest {
            try world.commit("UPDATE authorizations SET family_id = 'other' WHERE family_id = $1", of: id)
        }
        try world.commit(
            "UPDATE copied SET \(changes)", "INSERT INTO token_families SELECT * FROM copied", "DROP TABLE copied")
    }

    static let ofServers: [History] = [
        History(6, "is one of 4 open questions of a server", of: .callCentres) { world in
            let id = try world.some(asked)
            for _ in 1...4 { _ = try world.askAgain(id, with: "expires_at = 9000000000000") }
        },
        History(6, "11 questions of servers to", of: .callCentres) { world in
            let id = try world.some(asked)
            try world.commit(
                """
                INSERT OR REPLACE INTO attempts (key, count, window_ends_at)
                SELECT 'backchannel ' || user_id, 1, 7 FROM challenges WHERE id = $1
                """, of: id)
            for _ in 1...11 { _ = try world.askAgain(id, with: "expires_at = 1") }
        },
        History(8, "for a server that its user has reported", of: .callCentres) { world in
            let id = try world.some(asked)
            try world.commit(
                "UPDATE challenges SET state = 'denied', reason = 'reported' WHERE id = $1",
                of: try world.askAgain(id, with: sameAnswer))
            _ = try world.askAgain(id)
        },
        History(9, "was not told", of: .callCentres) { world in
            let id = try world.some(asked)
            try world.commit(
                "DELETE FROM outbox WHERE state = 'dead'",
                "UPDATE authorizations SET id = 'other' WHERE ask_challenge_id = $1", of: id)
        },
        History(15, "is not that of usr_", of: .callCentres) { world in
            let id = try world.some(asked)
            try world.commit("UPDATE users SET user_code = x'01'")
            _ = try world.askAgain(id)
        },
        History(15, "is denied, and aut_", of: .callCentres) { world in
            let id = try world.some(asked)
            let other = try world.askAgain(id, with: sameAnswer)
            try world.commit(
                "UPDATE authorizations SET ask_challenge_id = $1 WHERE ask_challenge_id = $2",
                "UPDATE challenges SET state = 'denied' WHERE id = $1", of: other, id)
        },
        History(15, "a yes to other came after") { world in
            let id = try world.some("authorizations WHERE state = 'redeemed'")
            let other = "INSERT INTO authorizations SELECT 'other', \(rest) FROM authorizations WHERE id = $1"
            try world.commit(other, of: id)
            world.ends("other")
            try world.commit("UPDATE authorizations SET state = 'authenticated' WHERE id = 'other'")
        },
        History(15, "no device of its user has said yes", of: .callCentres) {
            try giveAgain(in: $0, isForRequest: false)
        },
        History(15, "after its end", of: .callCentres) {
            try giveAgain(in: $0, with: "(id, created_at) = ('other', 9000000000000)")
        },
        History(15, "whose client had been told", of: .callCentres) { world in
            try giveAgain(in: world, after: world.ends)
        },
        History(15, "and other were given for", of: .callCentres) { try giveAgain(in: $0) },
        History(15, "because its client was told of it twice", of: .callCentres) { world in
            try world.commit(
                "UPDATE token_families SET ended_at = 1, reason = 'code_reused' WHERE id = $1",
                of: try world.some(pushed))
        },
        History(15, "and its tokens go on", of: .callCentres) { try $0.takesBack(try $0.some(answered)) },
        History(15, "and it is open", of: .callCentres) {
            try $0.takesBack(try $0.some("authorizations WHERE state = 'open'"))
        },
        History(15, "are not those that are stored", of: .callCentres) {
            try $0.pushes(for: try $0.some(answered))
        },
        History(15, "does not have what its user has authorized") { try $0.authorizes(hasThem: false) },
        History(15, "has what no device has signed") { try $0.authorizes(hasThem: true) },
    ]
}
