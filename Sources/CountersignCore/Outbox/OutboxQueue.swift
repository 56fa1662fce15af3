package import CountersignWire
package import Encodings

/// A message that this process holds a lease for, so that it may deliver the message now.
package struct LeasedMessage: Sendable {
    /// The message.
    package let message: OutboxMessage
    /// The number of earlier attempts.
    package let attempts: Int
    /// The lane from which the message was taken.
    package let lane: OutboxLane
    /// The end of the lease; until then no other process takes the message.
    package let until: Timestamp

    /// A leased message of these parts.
    package init(message: OutboxMessage, attempts: Int, lane: OutboxLane, until: Timestamp) {
        self.message = message
        self.attempts = attempts
        self.lane = lane
        self.until = until
    }
}

/// The result of an attempt to deliver; the reasons contain no secrets.
package enum DeliveryOutcome: Sendable {
    /// The message was delivered; its content is erased.
    case delivered
    /// A callback was delivered to a receiver that had answered 410 Gone before; those answers are forgotten.
    case recovered
    /// The message was not delivered; the next attempt is due at a time.
    case retried(String, at: Timestamp)
    /// The message was not delivered and is not tried again; its row stays, for operators to look at.
    case abandoned(String)
    /// The receiver of a callback answered 410 Gone.
    ///
    /// The next attempt is due at `retryAt`, unless that is nil or the receiver now counts as gone.
    case gone(String, retryAt: Timestamp?)
    /// The device is no longer reached at this push target; its registration is removed, unless there is a newer one.
    case unregistered(String, PushTarget)
}

/// An attempt to deliver that has ended.
package struct EndedAttempt: Sendable {
    /// The message.
    package let message: OutboxMessage
    /// The result of the attempt.
    package let outcome: DeliveryOutcome
    /// How many attempts are known to have failed before.
    package let earlier: Int

    /// An attempt with its result.
    package init(_ message: OutboxMessage, as outcome: DeliveryOutcome, after earlier: Int = 0) {
        self.message = message
        self.outcome = outcome
        self.earlier = earlier
    }

    /// Why a message is given up that was not sent, since it would have come too late.
    package static let tooLate = "its time was over before it could be sent"

    /// Whether the receiver surely has not got the message: an attempt whose result got lost, because the server was
    /// killed, may have brought it.
    package var isUndelivered: Bool {
        if case .abandoned(Self.tooLate) = outcome { earlier > 0 } else { true }
    }
}

/// The state of a message after an attempt to deliver it.
package enum Settlement: Hashable, Sendable {
    /// The message was delivered.
    case delivered
    /// The message was not delivered, for this reason; the next attempt is due at a time.
    case retried(String, at: Timestamp)
    /// The message was not delivered, for this reason, and is not tried again.
    case abandoned(String)
}

/// The durable outbox, as the processes that deliver its messages use it.
///
/// All methods throw ``StoreError``.
package protocol OutboxQueue: Sendable {
    /// The lanes in which messages of a kind are due.
    func dueLanes(_ kind: OutboxMessage.Kind, at now: Timestamp) async throws -> [DueLane]

    /// Leases due messages of a kind.
    ///
    /// - Parameters:
    ///   - kind: the kind of messages.
    ///   - shares: how many messages to take from each lane, at most.
    ///   - now: the current time.
    ///   - until: the end of the lease; until then no other process takes the messages.
    func lease(
        _ kind: OutboxMessage.Kind, _ shares: [LaneShare], now: Timestamp, until: Timestamp
    ) async throws -> [LeasedMessage]

    /// Returns leased messages that were not sent, so that any process can take them at once.
    func release(_ messages: [LeasedMessage], at now: Timestamp) async throws

    /// When the next message of a kind is due after a time; nil if there is none.
    func nextDue(_ kind: OutboxMessage.Kind, after time: Timestamp) async throws -> Timestamp?

    /// What is needed to send callbacks to receivers at a time; receivers of clients without a callback secret are
    /// left out.
    func callbackAccess(
        to receivers: Set<CallbackReceiver>, at now: Timestamp
    ) async throws -> [CallbackReceiver: CallbackAccess]
}

/// The token by which a server authenticates to a push service.
package struct ProviderToken: Sendable {
    /// The token.
    package let text: Secret<String>
    /// When the token was issued.
    package let issuedAt: Timestamp

    /// A token issued at a time.
    package init(text: Secret<String>, issuedAt: Timestamp) {
        self.text = text
        self.issuedAt = issuedAt
    }
}

/// The tokens for push services, which all nodes share because the services refuse senders that make new tokens too
/// often.
package protocol ProviderTokens: Sendable {
    /// The token with this name; nil if there is none.
    func providerToken(_ name: String) async throws -> ProviderToken?

    /// Replaces a token; of several concurrent replacements only the first takes effect.
    ///
    /// - Parameters:
    ///   - name: the name of the token.
    ///   - issuedAt: when the token to be replaced was issued; nil if there is none.
    ///   - token: the new token.
    /// - Returns: the token that is valid now.
    func replace(_ name: String, issuedAt: Timestamp?, by token: ProviderToken) async throws -> ProviderToken
}
