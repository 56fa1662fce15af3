package import CountersignWire
import Encodings

/// Sends a message of a template to an address of the operator's choice, to see that it arrives, and how it looks.
///
/// For operators. It takes the way of every other message: through the outbox.
package enum SendTestMessage {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// It is on its way.
        case queued(EventID)
        /// Mail, or text messages, are not set up.
        case notSetUp
        /// The address has had too many; after how many seconds to come again.
        case tooMany(retryAfter: Seconds)
    }

    /// How long such a message is tried.
    static let lifetime = Seconds.hours(1)
    /// The code in a message that shows what one with a code looks like; it is good for nothing.
    package static let code = EntryNumber(value: 123_456)

    /// Queues a message.
    ///
    /// - Parameters:
    ///   - template: which text; a code in it is ``code``.
    ///   - address: where to.
    ///   - language: the language; nil for the one the operator has set.
    ///   - caller: who asks.
    ///   - key: names the request.
    ///   - ports: the external dependencies.
    package static func send(
        _ template: MessageTemplate, to address: PersonalAddress, in language: LanguageTag?, by caller: ClientCaller,
        idempotency key: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        guard ports.transports.reach(address) else { return .done(.notSetUp) }
        let now = ports.time.now
        let message: PersonalMessage =
            switch template {
            case .test: .test(in: language)
            case .code: .code(code, minutes: 10, in: language)
            }
        let queued = OutboxMessage(
            id: ports.random.id(at: now), content: .personal(message, to: address, client: caller.client.id),
            dueAt: now,
            expiresAt: now.adding(lifetime))
        // The address is not kept in the clear: neither among the counts nor in the audit.
        let limit = AttemptLimit.testMessages(to: ports.hasher.name(of: address))
        return try await ports.commit(at: now, as: caller.actor) { work in
            try work.once(key, ()) {
                let sent = try work.count(limit)
                guard !sent.isExceeded else { return .tooMany(retryAfter: sent.retryAfter(at: now)) }
                try work.outbox.enqueue(queued)
                try work.raise(.messageTested(queued, template))
                return .queued(queued.id)
            }
        }
    }
}

extension SendTestMessage.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .queued(let id) = self else { return nil }
        return KeptForm(["message": .string("\(id)")])
    }

    init?(kept: KeptForm, of _: Void) {
        guard let id = kept.read("message", { EventID($0) }) else { return nil }
        self = .queued(id)
    }
}
