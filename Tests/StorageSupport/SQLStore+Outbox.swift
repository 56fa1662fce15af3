package import CountersignCore
package import CountersignStorage
package import CountersignWire
package import Encodings

/// The outbox, looked at as a whole.
extension SQLStore {
    /// Takes messages of every kind, so many of each.
    package func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [LeasedMessage] {
        var leased: [LeasedMessage] = []
        for kind in OutboxMessage.Kind.allCases {
            leased += try await lease(kind, limit: limit, now: now, until: until)
        }
        return leased
    }

    /// When the next message of any kind is due.
    package func nextDue() async throws -> Timestamp? {
        var due: [Timestamp] = []
        for kind in OutboxMessage.Kind.allCases { due += [try await nextDue(kind)].compactMap { $0 } }
        return due.min()
    }

    /// The newest secret that signs callbacks to a client.
    package func callbackSecret(of client: ClientID) async throws -> Secret<String>? {
        let anywhere = CallbackURI(stored: World.callback)
        return try await callbackAccess(of: client, to: anywhere, at: Timestamp(milliseconds: 0))?.secrets.first
    }
}
