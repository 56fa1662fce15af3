public import CountersignWire
public import Encodings

/// Makes a new secret for a client.
///
/// For operators: whoever has a client's secret could renew it, too, and lock its owner out.
public enum RenewClientSecret {
    /// A new secret, shown this once.
    public struct Renewed: Sendable {
        /// The client.
        public let client: ClientID
        /// The secret.
        public let secret: Secret<String>
        /// Until when the earlier one lets in, too.
        public let earlierUntil: Timestamp
    }

    /// Makes a new secret.
    ///
    /// The earlier one lets in beside it for a while, so that it can be replaced without a call being refused; one
    /// that was earlier still lets nobody in. Who waits by one that is good no more waits no longer.
    ///
    /// - Parameters:
    ///   - id: the client.
    ///   - overlap: how long the earlier one still lets in, in seconds; 0 where it has become known.
    ///   - caller: who asks.
    ///   - key: names the request: done twice for want of a reply, it would drop the secret that is in use.
    ///   - ports: the world.
    ///   - reply: what is answered, kept for repeats.
    /// - Returns: nil when there is no client of this id that has a secret.
    public static func renew(
        of id: ClientID, overlap: Int64 = UpdateClient.overlap, by caller: Client,
        idempotency key: IdempotencyKey? = nil, ports: Ports, reply: @escaping @Sendable (Renewed) -> RecordedReply
    ) async throws -> Replayable<Renewed?> {
        let now = ports.time.now
        let renewed = Renewed(
            client: id, secret: CreateClient.newSecret(ports.random), earlierUntil: now.adding(seconds: overlap))
        return try await ports.commit(at: now) { work in
            try work.once(key) {
                guard let client = try work.clients.find(id), !client.isOperator else { return (nil, nil) }
                try work.clients.renewSecret(
                    of: id, to: SecretHash(of: renewed.secret), earlierUntil: renewed.earlierUntil)
                try work.raise(.clientSecretRenewed(id, earlierUntil: renewed.earlierUntil, by: caller.id))
                return (renewed, reply(renewed))
            }
        }
    }
}

extension UnitOfWork {
    /// Has all who watch a client's open challenges look again whether they may.
    func notifyWatchers(of client: ClientID) throws {
        for challenge in try challenges.open(of: client, limit: .max) { notify(.challenge(challenge)) }
    }
}
