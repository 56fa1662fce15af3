package import CountersignWire

/// From which browsers users have approved something.
///
/// All throw ``StoreError``.
package protocol BrowserStore {
    /// Whether a user has approved something of a client's from a browser, by its hash.
    func isKnown(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws -> Bool
    /// The user of an address, if they have approved something from a browser. What the client only says of an address
    /// counts where nobody has proved it.
    func user(of browser: KeyedHash, named: IdentifierName, by client: ClientID) throws -> UserID?
    /// The user of a client's own name, if they have approved something from a browser.
    func user(of browser: KeyedHash, named: ExternalID, by client: ClientID) throws -> UserID?
    func deleteAll(of user: UserID) throws
    /// Remembers, or remembers anew, from which browser a user has approved something of a client's.
    func put(_ browser: KeyedHash, of user: UserID, by client: ClientID, at: Timestamp) throws
    func delete(_ browser: KeyedHash, of user: UserID, by client: ClientID) throws
}
