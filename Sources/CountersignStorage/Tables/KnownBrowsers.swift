import CountersignCore
import CountersignWire

private enum Statements {
    private static let key = "user_id = $1 AND client_id = $2 AND browser = $3"
    static let exists = SQLStatement("SELECT 1 FROM known_browsers WHERE \(key)")
    /// One statement, whether there is such a user or not: how long it takes must not tell.
    static let existsByName = SQLStatement(
        """
        SELECT 1 FROM identifiers i JOIN known_browsers b ON b.user_id = i.user_id
        WHERE i.kind = $3 AND i.name = $4 AND b.client_id = $1 AND b.browser = $2
          AND (i.client_id IS NULL OR i.client_id = $1 AND (i.proved_at IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM identifiers v WHERE v.kind = $3 AND v.name = $4 AND v.client_id IS NULL)))
        """)
    static let existsByExternalID = SQLStatement(
        """
        SELECT 1 FROM user_links l JOIN known_browsers b ON b.user_id = l.user_id AND b.client_id = l.client_id
        WHERE l.client_id = $1 AND l.external_id = $3 AND b.browser = $2
        """)
    static let put = SQLStatement(
        """
        INSERT INTO known_browsers (user_id, client_id, browser, approved_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_id, client_id, browser) DO UPDATE SET approved_at = $4
        """)
    static let remove = SQLStatement("DELETE FROM known_browsers WHERE \(key)")
}

/// The browsers from which users have approved something.
extension SQLTransaction {
    func isKnown(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws -> Bool {
        try first(Statements.exists, [user.value, client.value, .blob(browser.bytes)]) { _ in true } ?? false
    }

    func isKnown(_ browser: KeyedHash, of name: IdentifierName, by client: ClientID) throws -> Bool {
        let arguments: [SQLValue] = [
            client.value, .blob(browser.bytes), .text(name.kind.rawValue), .blob(name.hash.bytes),
        ]
        return try first(Statements.existsByName, arguments) { _ in true } ?? false
    }

    func isKnown(_ browser: KeyedHash, of name: ExternalID, by client: ClientID) throws -> Bool {
        let arguments: [SQLValue] = [client.value, .blob(browser.bytes), .text(name.text)]
        return try first(Statements.existsByExternalID, arguments) { _ in true } ?? false
    }

    func put(_ browser: KeyedHash, of user: UserID, by client: ClientID, at time: Timestamp) throws {
        try connection.send(Statements.put, [user.value, client.value, .blob(browser.bytes), time.value])
    }

    func delete(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws {
        try connection.send(Statements.remove, [user.value, client.value, .blob(browser.bytes)])
    }
}
