import CountersignCore
import CountersignWire

private enum Statements {
    private static let key = "user_id = $1 AND client_id = $2 AND browser = $3"
    static let exists = SQLStatement("SELECT 1 FROM known_browsers WHERE \(key)")
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

    func put(_ browser: KeyedHash, of user: UserID, by client: ClientID, at time: Timestamp) throws {
        try connection.send(Statements.put, [user.value, client.value, .blob(browser.bytes), time.value])
    }

    func delete(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws {
        try connection.send(Statements.remove, [user.value, client.value, .blob(browser.bytes)])
    }
}
