import CountersignCore
import CountersignStorage
import CountersignWire

/// The fifteenth invariant: a sign-in is approved by the person's device, redeemed once, and gives tokens that end with
/// the device, the link, and whatever comes a second time.
extension Watch {
    /// The triggers for sign-ins.
    var triggersOfSignIns: [String] {
        [
            trigger(
                "authenticated", "AFTER UPDATE OF state ON authorizations WHEN new.state = 'authenticated'", "new.id",
                "NULL"),
            trigger(
                "redeemed twice", "AFTER UPDATE OF spent_at ON codes WHEN old.spent_at IS NOT NULL", "hex(new.hash)",
                "NULL"),
            trigger(
                "sign-in changed",
                "AFTER UPDATE OF state ON authorizations WHEN old.state IN ('redeemed', 'refused')", "new.id",
                "old.state || ' ' || new.state"),
            trigger("given", "AFTER INSERT ON token_families", "new.id", "NULL"),
            trigger("refreshed", "AFTER UPDATE OF generation ON token_families", "new.id", "NULL"),
            trigger(
                "tokens came back", "AFTER UPDATE OF ended_at ON token_families WHEN old.ended_at IS NOT NULL",
                "new.id", "NULL"),
            trigger(
                "session ended",
                "AFTER UPDATE OF ended_at ON sessions WHEN old.ended_at IS NULL AND new.ended_at IS NOT NULL", "new.id",
                "NULL"),
            trigger(
                "session came back", "AFTER UPDATE OF ended_at ON sessions WHEN old.ended_at IS NOT NULL", "new.id",
                "NULL"),
        ]
    }

    /// Checks what a trigger for sign-ins has noted.
    func lookAtSignIn(_ what: String, _ id: String, _ other: String, _ connection: any SQLConnection) throws {
        switch what {
        case "authenticated": try authenticated(id, connection)
        case "redeemed twice": world.violate(15, "a code was redeemed twice")
        case "sign-in changed": world.violate(15, "the end of \(id) changed: \(other)")
        case "given": try given(id, connection)
        case "refreshed": try good(id, connection)
        case "session ended": try noTokens(ofSession: id, connection)
        case "tokens came back", "session came back": world.violate(15, "\(id) was ended and came back")
        default: try lookAtGrant(what, id, other, connection)
        }
    }

    private func authenticated(_ id: String, _ connection: any SQLConnection) throws {
        yes(to: id)
        let approved = try connection.rows(
            SQLStatement(
                """
                SELECT c.id FROM authorizations a JOIN challenges c ON c.authorization_id = a.id
                WHERE a.id = $1 AND c.state = 'approved' AND c.user_id = a.user_id AND c.id = a.ask_challenge_id
                """), [.text(id)])
        guard approved.count != 1 else { return }
        world.violate(15, "\(id) is authenticated, and no device of its user has approved it")
    }

    private func given(_ id: String, _ connection: any SQLConnection) throws {
        world.ledger.counts.redeemed += 1
        let inSession = SQLStatement("SELECT 1 FROM token_families WHERE id = $1 AND session_id <> ''")
        guard try !connection.rows(inSession, [.text(id)]).isEmpty else {
            try givenToServer(id, connection)
            return try good(id, connection)
        }
        let redeemed = try connection.rows(
            SQLStatement(
                """
                SELECT a.id FROM token_families f
                JOIN authorizations a ON a.family_id = f.id AND a.user_id = f.user_id AND a.client_id = f.client_id
                JOIN sessions s ON s.id = f.session_id AND s.user_id = f.user_id AND s.ended_at IS NULL
                WHERE f.id = $1 AND a.state = 'redeemed'
                """), [.text(id)])
        if redeemed.count != 1 { world.violate(15, "\(id) was given for no sign-in in a session") }
        try good(id, connection)
    }

    /// Checks that what a family was given for is still there.
    private func good(_ id: String, _ connection: any SQLConnection) throws {
        let left = try connection.rows(
            SQLStatement(
                """
                SELECT f.id FROM token_families f
                JOIN enrollments e ON e.id = f.enrollment_id AND e.user_id = f.user_id
                JOIN user_links l ON l.user_id = f.user_id AND l.client_id = f.client_id
                JOIN clients c ON c.id = f.client_id
                WHERE f.id = $1 AND f.ended_at IS NULL AND e.removed_at IS NULL AND e.suspended_at IS NULL
                AND c.disabled_at IS NULL AND c.deleted_at IS NULL
                """), [.text(id)])
        if left.isEmpty { world.violate(15, "\(id) gives tokens, though its device, link or client is gone") }
        try covered("f.id = $1", [.text(id)], connection)
    }

    /// Checks that no tokens outlive a removed device.
    func noTokens(ofDevice id: String, _ connection: any SQLConnection) throws {
        let left = try connection.rows(
            SQLStatement("SELECT id FROM token_families WHERE enrollment_id = $1 AND ended_at IS NULL"), [.text(id)])
        for row in left { world.violate(15, "\(try row.text(0)) outlives \(id), which is removed") }
    }

    /// Checks that no tokens outlive an ended session but those with the scope `offline_access`.
    private func noTokens(ofSession id: String, _ connection: any SQLConnection) throws {
        let left = try connection.rows(
            SQLStatement("SELECT id FROM token_families WHERE session_id = $1 AND offline = 0 AND ended_at IS NULL"),
            [.text(id)])
        for row in left { world.violate(15, "\(try row.text(0)) outlives \(id), which has ended") }
    }

    /// Checks that no tokens outlive a user's link to a client; without a client, to all.
    func noTokens(of user: String, at client: String?, _ connection: any SQLConnection) throws {
        let left = try connection.rows(
            SQLStatement(
                """
                SELECT id FROM token_families WHERE user_id = $1 AND ended_at IS NULL AND ($2 = '' OR client_id = $2)
                """), [.text(user), .text(client ?? "")])
        for row in left { world.violate(15, "\(try row.text(0)) is good, and \(user) was let go") }
    }

    /// Whether a family has ended, or is gone.
    func isOver(_ family: TokenFamilyID) throws -> Bool {
        try world.database.look {
            try $0.rows(
                SQLStatement("SELECT 1 FROM token_families WHERE id = $1 AND ended_at IS NULL"), [.text("\(family)")])
        }.isEmpty
    }
}
