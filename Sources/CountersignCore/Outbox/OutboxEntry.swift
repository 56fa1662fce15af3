package import CountersignWire

/// A message of the outbox, as an operator sees it: without what is in it.
package struct OutboxEntry: Hashable, Sendable {
    /// Where a message can stand while it has not arrived.
    package enum State: String, Sendable, CaseIterable {
        /// It is to be sent, or sent again.
        case waiting
        /// It was given up.
        case dead
    }

    /// Its id.
    package let id: EventID
    /// `callback`, `push`, `mail` or `text`.
    package let kind: String
    /// Whose it is.
    package let client: ClientID
    /// Where it stands.
    package let state: State
    /// When it is tried next.
    package let dueAt: Timestamp
    /// Until when it can be tried.
    package let expiresAt: Timestamp
    /// How often it was tried.
    package let attempts: Int
    /// What went wrong last.
    package let lastError: String?

    /// An entry of these parts.
    package init(
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
