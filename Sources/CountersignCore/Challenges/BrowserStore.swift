package import CountersignWire

/// From which browsers users have approved something.
///
/// All throw ``StoreError``.
package protocol BrowserStore {
    /// Whether a user has approved something of a client's from a browser, by its hash.
    func isKnown(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws -> Bool
    /// Whether the user of an address has approved something from a browser. What the client only says of an address
    /// counts where nobody has proved it.
    func isKnown(_ browser: KeyedHash, of name: IdentifierName, by client: ClientID) throws -> Bool
    /// Whether the user of a client's own name has approved something from a browser.
    func isKnown(_ browser: KeyedHash, of name: ExternalID, by client: ClientID) throws -> Bool
    func deleteAll(of user: UserID) throws
    /// Remembers, or remembers anew, from which browser a user has approved something of a client's.
    func put(_ browser: KeyedHash, of user: UserID, by client: ClientID, at: Timestamp) throws
    func delete(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws
}
