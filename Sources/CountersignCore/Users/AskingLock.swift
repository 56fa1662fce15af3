public import CountersignWire
import Encodings

/// A user has said that somebody else started a client's question: that client asks them nothing more until an operator
/// has looked into it.
public struct AskingLock: Sendable {
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

/// Shows and ends locks.
///
/// For operators.
public enum ManageLocks {
    /// Locks in the order in which the questions were asked.
    public static func list(after id: ChallengeID?, limit: Int, ports: Ports) async throws -> [AskingLock] {
        try await ports.store.read { try $0.askingLocks.list(after: id, limit: limit) }
    }

    /// Ends the lock of a question, so that its client may ask its user again.
    ///
    /// - Returns: false when there is none.
    public static func end(_ challenge: ChallengeID, by client: Client, ports: Ports) async throws -> Bool {
        let now = ports.time.now
        return try await ports.commit(at: now) { work in
            guard let lock = try work.askingLocks.end(of: challenge) else { return false }
            try work.raise(.askingUnlocked(lock, by: client.id))
            return true
        }
    }
}
