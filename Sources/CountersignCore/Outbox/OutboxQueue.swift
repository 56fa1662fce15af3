public import CountersignWire
public import Encodings

/// A message that this process may deliver now.
public struct LeasedMessage: Sendable {
    /// The message.
    public let message: OutboxMessage
    /// How often it was tried before.
    public let attempts: Int

    /// A message that was tried some times.
    public init(message: OutboxMessage, attempts: Int) {
        self.message = message
        self.attempts = attempts
    }
}

/// The durable outbox, seen by those who empty it.
public protocol OutboxQueue: Sendable {
    /// Takes messages that are due, for nobody else to take until a time.
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [LeasedMessage]

    /// When the next message is due, or nil when there is none.
    func nextDue() async throws -> Timestamp?

    /// The message arrived: its content is erased.
    func delivered(_ id: EventID, at now: Timestamp) async throws

    /// The message did not arrive.
    ///
    /// It is tried again at a time, or never: then the row stays, for people to look at.
    func failed(_ id: EventID, error: String, retryAt: Timestamp?) async throws

    /// The secret that signs callbacks to a client.
    func callbackSecret(of client: ClientID) async throws -> Secret<String>?
}
