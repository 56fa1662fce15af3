package import CountersignWire

/// A message of the outbox as an operator sees it, without its content.
package struct OutboxEntry: Hashable, Sendable {
    /// The state of a message that was not delivered.
    package enum State: String, Sendable, CaseIterable {
        /// The message is to be sent, now or after a pause.
        case waiting
        /// The message was given up.
        case dead
    }

    /// The message's id.
    package let id: EventID
    /// `callback`, `push`, `mail`, `text`, `logout`, `backchannel` or `sign-in`.
    package let kind: String
    /// The client that caused the message.
    package let client: ClientID
    /// The state of the message.
    package let state: State
    /// When the next attempt is due.
    package let dueAt: Timestamp
    /// The end of the time for attempts.
    package let expiresAt: Timestamp
    /// The number of attempts so far.
    package let attempts: Int
    /// The error of the last attempt; nil if there was none.
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
