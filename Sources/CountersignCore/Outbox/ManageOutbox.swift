public import CountersignWire
import Encodings

/// A message of the outbox, as an operator sees it: without what is in it.
public struct OutboxEntry: Sendable {
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

/// Shows what has not arrived, and has it sent again.
///
/// For operators. Spec: design 7.
public enum ManageOutbox {
    /// What came of sending a message again.
    public enum Outcome: Hashable, Sendable {
        /// It is sent now.
        case queued
        /// There is no message of this id that has not arrived.
        case notFound
        /// Its time is over: its content is gone.
        case over
    }

    /// Messages in a state, oldest first.
    public static func list(
        _ state: OutboxEntry.State, after id: EventID?, limit: Int, ports: Ports
    ) async throws -> [OutboxEntry] {
        try await ports.store.read { try $0.outbox.list(state, after: id, limit: limit) }
    }

    /// Has a message sent now: one that was given up, or one that waits for its next time.
    public static func retry(_ id: EventID, by client: Client, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now) { work in
            guard let entry = try work.outbox.find(id) else { return .notFound }
            guard now < entry.expiresAt, let message = try work.outbox.requeue(id, at: now) else { return .over }
            if case .push(let challenge, let enrollment, _) = message.content {
                try work.pushes.record(.queued(lastFailure: entry.lastError), of: challenge, to: enrollment, at: now)
            }
            try work.raise(.messageRetried(id, by: client.id))
            return .queued
        }
    }
}
