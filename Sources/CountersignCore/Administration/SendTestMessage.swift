package import CountersignWire
import Encodings

/// Sends a test message of a template to an address, so that the operator sees whether it arrives and how it looks.
///
/// This operation is for operators. The message goes through the outbox, as every other message does.
package enum SendTestMessage {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The message is in the outbox.
        case queued(EventID)
        /// The server has no transport for this kind of address: mail or text messages.
        case notSetUp
        /// The address has had too many test messages.
        case tooMany(retryAfter: Seconds)
    }

    /// How long delivery of a test message is tried.
    static let lifetime = Seconds.hours(1)
    /// The code that a test message shows; it is not valid for anything.
    package static let code = EntryNumber(value: 123_456)

    /// Adds a test message to the outbox.
    ///
    /// - Parameters:
    ///   - template: the template; its code is ``code``.
    ///   - address: the address of the recipient.
    ///   - language: the language; nil for the operator's default.
    ///   - caller: who asks.
    ///   - key: the idempotency key of the request; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func send(
        _ template: MessageTemplate, to address: PersonalAddress, in language: LanguageTag?, by caller: ClientCaller,
        idempotency key: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        guard ports.transports.reach(address) else { return .done(.notSetUp) }
        let now = ports.time.now
        let message = PersonalMessage.example(template, code, in: language)
        let queued = OutboxMessage(
            id: ports.random.id(at: now), content: .personal(message, to: address, client: caller.client.id),
            dueAt: now,
            expiresAt: now.adding(lifetime))
        // The count and the audit do not hold the address in the clear.
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
