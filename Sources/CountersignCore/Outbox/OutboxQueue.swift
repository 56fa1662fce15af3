package import CountersignWire
package import Encodings

/// A message that this process may deliver now.
package struct LeasedMessage: Sendable {
    /// The message.
    package let message: OutboxMessage
    /// How often it was tried before.
    package let attempts: Int
    /// Where it was queued.
    package let lane: OutboxLane
    /// Until when nobody else takes it.
    package let until: Timestamp

    /// A message that was tried some times.
    package init(message: OutboxMessage, attempts: Int, lane: OutboxLane, until: Timestamp) {
        self.message = message
        self.attempts = attempts
        self.lane = lane
        self.until = until
    }
}

/// What came of an attempt to deliver; reasons are words without secrets.
package enum DeliveryOutcome: Sendable {
    /// The receiver has it: its content is erased.
    case delivered
    /// The receiver of a callback has it, which had said that it is gone: nothing is held against it any more.
    case recovered
    /// It did not arrive, and is tried again at a time.
    case retried(String, at: Timestamp)
    /// It did not arrive and is not tried again: the row stays, for people to look at.
    case abandoned(String)
    /// The receiver of a callback says that it is gone: tried again at a time, if there is one, and if it has not said so
    /// for too long.
    case gone(String, retryAt: Timestamp?)
    /// The device is not reached there any more: the registration is dropped, unless there is another one by now.
    case unregistered(String, PushTarget)
}

/// An attempt to deliver that has ended.
package struct EndedAttempt: Sendable {
    /// What was to be delivered.
    package let message: OutboxMessage
    /// What came of it.
    package let outcome: DeliveryOutcome

    /// An attempt of which this came.
    package init(_ message: OutboxMessage, as outcome: DeliveryOutcome) {
        self.message = message
        self.outcome = outcome
    }
}

/// Where a message stands after an attempt to deliver it.
package enum Settlement: Hashable, Sendable {
    /// It has arrived.
    case delivered
    /// It did not arrive for this reason and is tried again at a time.
    case retried(String, at: Timestamp)
    /// It did not arrive for this reason and is not tried again.
    case abandoned(String)
}

/// The durable outbox, seen by those who empty it.
package protocol OutboxQueue: Sendable {
    /// In which lanes messages of a kind are due.
    func dueLanes(_ kind: OutboxMessage.Kind, at now: Timestamp) async throws -> [DueLane]

    /// Takes messages of a kind that are due, so many of each lane, for nobody else to take until a time.
    func lease(
        _ kind: OutboxMessage.Kind, _ shares: [LaneShare], now: Timestamp, until: Timestamp
    ) async throws -> [LeasedMessage]

    /// Gives back what was taken and not sent: others may take it at once.
    func release(_ messages: [LeasedMessage], at now: Timestamp) async throws

    /// When the next message of a kind is due after a time, or nil when there is none.
    func nextDue(_ kind: OutboxMessage.Kind, after time: Timestamp) async throws -> Timestamp?

    /// What callbacks to these are sent with at a time, without those whose client has no secret.
    func callbackAccess(
        to receivers: Set<CallbackReceiver>, at now: Timestamp
    ) async throws -> [CallbackReceiver: CallbackAccess]
}

/// What a server proves itself with to a push service.
package struct ProviderToken: Sendable {
    /// The token.
    package let text: Secret<String>
    /// Since when it stands.
    package let issuedAt: Timestamp

    /// A token made at a time.
    package init(text: Secret<String>, issuedAt: Timestamp) {
        self.text = text
        self.issuedAt = issuedAt
    }
}

/// The tokens for push services, which all nodes share: services refuse who makes new ones too often.
package protocol ProviderTokens: Sendable {
    /// The token of a name, if there is one.
    func providerToken(_ name: String) async throws -> ProviderToken?

    /// Puts a token in the place of the one of another time; of several that do so at once the first one does.
    ///
    /// - Returns: the token that stands now.
    func replace(_ name: String, issuedAt: Timestamp?, by token: ProviderToken) async throws -> ProviderToken
}
