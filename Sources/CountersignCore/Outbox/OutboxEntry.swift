public import CountersignWire

/// A message of the outbox, as an operator sees it: without what is in it.
public struct OutboxEntry: Hashable, Sendable {
    /// Where a message can stand while it has not arrived.
    public enum State: String, Sendable, CaseIterable {
        /// It is to be sent, or sent again.
        case waiting
        /// It was given up.
        case dead
    }

    /// Its id.
    public let id: EventID
    /// `callback`, `push`, `mail` or `text`.
    public let kind: String
    /// Whose it is.
    public let client: ClientID
    /// Where it stands.
    public let state: State
    /// When it is tried next.
    public let dueAt: Timestamp
    /// Until when it can be tried.
    public let expiresAt: Timestamp
    /// How often it was tried.
    public let attempts: Int
    /// What went wrong last.
    public let lastError: String?

    /// An entry of these parts.
    public init(
        id: EventID, kind: String, client: ClientID, state: State, dueAt: Timestamp, expiresAt: Timestamp,
        attempts: Int, lastError: String?
    ) {
        self.id = id
        self.kind = kind
        self.client = client
        self.state = state
        self.dueAt = dueAt
        self.expiresAt = expiresAt
        self.attempts = attempts
        self.lastError = lastError
    }
}
