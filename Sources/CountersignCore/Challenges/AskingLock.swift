package import CountersignWire

/// A user has said that somebody else started a client's question: that client asks them nothing more until an operator
/// has looked into it.
package struct AskingLock: Hashable, Sendable {
    /// Whom the client may not ask.
    package let user: UserID
    /// The client.
    package let client: ClientID
    /// The question that was reported, by which the lock is known.
    package let challenge: ChallengeID
    /// Since when.
    package let since: Timestamp

    /// A lock of these parts.
    package init(user: UserID, client: ClientID, challenge: ChallengeID, since: Timestamp) {
        self.user = user
        self.client = client
        self.challenge = challenge
        self.since = since
    }
}
