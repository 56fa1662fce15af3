package import CountersignCore
package import CountersignStorage
package import CountersignWire
package import Encodings

/// Access to the whole outbox, for tests.
extension SQLStore {
    /// Leases messages of every kind, up to a limit for each kind.
    package func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [LeasedMessage] {
        var leased: [LeasedMessage] = []
        for kind in OutboxMessage.Kind.allCases {
            leased += try await lease(kind, limit: limit, now: now, until: until)
        }
        return leased
    }

    /// Leases messages of one kind, with the fairness of a worker that has this many places.
    package func lease(
        _ kind: OutboxMessage.Kind, limit: Int, now: Timestamp, until: Timestamp
    ) async throws -> [LeasedMessage] {
        let load = OutboxLoad(.init(total: limit, each: limit, slow: limit, leavesHalf: false))
        return try await lease(kind, load.shares(of: try await dueLanes(kind, at: now)), now: now, until: until)
    }

    /// When the next message of any kind is due.
    package func nextDue() async throws -> Timestamp? {
        var due: [Timestamp] = []
        for kind in OutboxMessage.Kind.allCases {
            due += [try await nextDue(kind, after: Timestamp(milliseconds: .min))].compactMap { $0 }
        }
        return due.min()
    }

    /// The newest secret for signing callbacks to a client.
    package func callbackSecret(of client: ClientID) async throws -> Secret<String>? {
        let anywhere = CallbackReceiver(of: client, at: CallbackURI(stored: World.callback))
        return try await callbackAccess(to: [anywhere], at: Timestamp(milliseconds: 0))[anywhere]?.secrets.first
    }
}

extension World {
    /// Records the outcome of one attempt to deliver a message.
    @discardableResult
    package func record(
        _ outcome: DeliveryOutcome, of message: OutboxMessage, at now: Timestamp, after earlier: Int = 0
    ) async throws -> Settlement? {
        let attempt = EndedAttempt(message, as: outcome, after: earlier)
        return try await RecordDelivery.record([attempt], at: now, ports: ports)[message.id]
    }
}
