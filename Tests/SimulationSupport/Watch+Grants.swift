import CountersignStorage

/// The fifteenth invariant at third parties: they have what a user has allowed them, and nothing after its end.
extension Watch {
    /// The triggers for grants.
    var triggersOfGrants: [String] {
        [
            trigger("allowed", "AFTER INSERT ON grants", "new.user_id", "new.client_id"),
            trigger("allowed again", "AFTER UPDATE ON grants", "new.user_id", "new.client_id"),
            trigger("allowed no more", "AFTER DELETE ON grants", "old.user_id", "old.client_id"),
            trigger(
                "access ended", "AFTER INSERT ON audit WHEN new.kind = 'access.ended'", "new.user_id", "new.client_id"),
            trigger("code given", "AFTER INSERT ON codes", "new.authorization_id", "NULL"),
        ]
    }

    /// Checks what a trigger for grants has noted.
    func lookAtGrant(_ what: String, _ id: String, _ other: String, _ connection: any SQLConnection) throws {
        let both: [SQLValue] = [.text(id), .text(other)]
        switch what {
        case "allowed", "allowed again":
            world.ledger.counts.allowed += 1
            if world.ledger.answering["\(id) \(other)", default: 0] == 0 {
                world.violate(15, "\(other) is allowed something by \(id), who has not answered")
            }
            try covered("f.user_id = $1 AND f.client_id = $2", both, connection)
        case "allowed no more": try covered("f.user_id = $1 AND f.client_id = $2", both, connection)
        case "access ended": try accessEnded(both, connection)
        case "code given": try codeGiven(id, connection)
        default: try lookAtServers(what, id, other, connection)
        }
    }

    /// Checks that a third party may do no more with its tokens than their user has allowed it.
    func covered(_ condition: String, _ arguments: [SQLValue], _ connection: any SQLConnection) throws {
        let families = try connection.rows(
            SQLStatement(
                """
                SELECT f.id, f.scopes, coalesce(g.scopes, '') FROM token_families f
                JOIN clients c ON c.id = f.client_id AND c.third_party = 1
                LEFT JOIN grants g ON g.user_id = f.user_id AND g.client_id = f.client_id
                WHERE \(condition) AND f.ended_at IS NULL ORDER BY f.id
                """), arguments)
        for row in families {
            let (has, may) = (try row.text(1), try row.text(2))
            guard !Set(may.split(separator: " ")).isSuperset(of: has.split(separator: " ")) else { continue }
            world.violate(15, "\(try row.text(0)) is good for “\(has)”, and its user allows “\(may)”")
        }
    }

    /// Checks that nothing is left of what a user has ended, but for refusals of which the client is told; what was given
    /// before must never be good again.
    private func accessEnded(_ both: [SQLValue], _ connection: any SQLConnection) throws {
        world.ledger.counts.withdrawn += 1
        let families = try connection.rows(
            SQLStatement("SELECT id, ended_at FROM token_families WHERE user_id = $1 AND client_id = $2 ORDER BY id"),
            both)
        for row in families {
            let id = try row.text(0)
            world.ledger.withdrawn.insert(id)
            if try row.optionalInteger(1) == nil { world.violate(15, "\(id) goes on, though its user has ended it") }
        }
        let left = try connection.rows(
            SQLStatement(
                """
                SELECT id FROM authorizations WHERE user_id = $1 AND client_id = $2 AND state <> 'refused'
                UNION ALL SELECT 'a grant of ' || user_id FROM grants WHERE user_id = $1 AND client_id = $2
                """), both)
        for row in left { world.violate(15, "\(try row.text(0)) is left, though its user has ended it") }
    }

    /// Checks that a third party gets a code only from a user who has allowed it something.
    private func codeGiven(_ authorization: String, _ connection: any SQLConnection) throws {
        let given = try connection.rows(
            SQLStatement(
                """
                SELECT a.user_id FROM authorizations a JOIN clients c ON c.id = a.client_id AND c.third_party = 1
                WHERE a.id = $1 AND NOT EXISTS (
                  SELECT 1 FROM grants g WHERE g.user_id = a.user_id AND g.client_id = a.client_id)
                """), [.text(authorization)])
        for row in given {
            world.violate(15, "\(authorization) gave a code, and \(try row.text(0)) has allowed nothing")
        }
    }

    /// Checks that no grant outlives a user's link to a client; without a client, to all.
    func noGrants(of user: String, at client: String?, _ connection: any SQLConnection) throws {
        let left = try connection.rows(
            SQLStatement("SELECT client_id FROM grants WHERE user_id = $1 AND ($2 = '' OR client_id = $2)"),
            [.text(user), .text(client ?? "")])
        for row in left { world.violate(15, "\(try row.text(0)) is allowed something, and \(user) was let go") }
    }
}
