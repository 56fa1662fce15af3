public import CountersignWire

/// A user has said that somebody else started a client's question: that client asks them nothing more until an operator
/// has looked into it.
public struct AskingLock: Hashable, Sendable {
    /// Whom the client may not ask.
    public let user: UserID
    /// The client.
    public let client: ClientID
    /// The question that was reported, by which the lock is known.
    public let challenge: ChallengeID
    /// Since when.
    public let since: Timestamp

    /// A lock of these parts.
    public init(user: UserID, client: ClientID, challenge: ChallengeID, since: Timestamp) {
        self.user = user
        self.client = client
        self.challenge = challenge
        self.since = since
    }
}
