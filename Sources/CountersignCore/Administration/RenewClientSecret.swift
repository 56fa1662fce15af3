package import CountersignWire
package import Encodings

/// Makes a new secret for a client.
///
/// For operators: whoever has a client's secret could renew it, too, and lock its owner out.
package enum RenewClientSecret {
    /// How long a secret works beside the one that replaces it where nobody says otherwise.
    package static let overlap = Seconds.days(1)

    /// A new secret, shown this once.
    package struct Renewed: Equatable, Sendable {
        /// The client.
        package let client: ClientID
        /// The secret.
        package let secret: Secret<String>
        /// Until when the earlier one lets in, too.
        package let earlierUntil: Timestamp

        /// Compares the secrets in constant time.
        package static func == (one: Renewed, other: Renewed) -> Bool {
            one.client == other.client && one.earlierUntil == other.earlierUntil && one.secret.isSame(as: other.secret)
        }
    }

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The new secret.
        case renewed(Renewed)
        /// There is no client of this id that has a secret.
        case notFound
    }

    /// Makes a new secret.
    ///
    /// The earlier one lets in beside it for a while, so that it can be replaced without a call being refused; one
    /// that was earlier still lets nobody in. Who waits by one that is good no more waits no longer.
    ///
    /// - Parameters:
    ///   - id: the client.
    ///   - overlap: how long the earlier one still lets in; 0 where it has become known.
    ///   - actor: who asks.
    ///   - key: names the request: done twice for want of a reply, it would drop the secret that is in use.
    ///   - ports: the world.
    package static func renew(
        of id: ClientID, overlap: Seconds = overlap, by actor: Actor,
        idempotency key: IdempotencyKey? = nil, ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let renewed = Renewed(
            client: id, secret: CreateClient.newSecret(ports.random), earlierUntil: now.adding(overlap))
        return try await ports.commit(at: now, as: actor) { work in
            try work.once(key, id) {
                guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
                try work.clients.renewSecret(
                    of: id, to: SecretHash(of: renewed.secret), earlierUntil: renewed.earlierUntil)
                try work.raise(.clientSecretRenewed(id, earlierUntil: renewed.earlierUntil))
                return .renewed(renewed)
            }
        }
    }
}

/// A repeat gets the secret that was made, also when it has ceased to work.
extension RenewClientSecret.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .renewed(let renewed) = self else { return nil }
        return KeptForm([
            "secret": .string(renewed.secret.reveal()), "earlier_until": .string("\(renewed.earlierUntil)"),
        ])
    }

    init?(kept: KeptForm, of client: ClientID) {
        guard let secret = kept.read("secret", { Secret($0) }),
            let until = kept.read("earlier_until", { Timestamp($0) })
        else { return nil }
        self = .renewed(.init(client: client, secret: secret, earlierUntil: until))
    }
}

extension UnitOfWork {
    /// Has all who watch a client's open challenges look again whether they may.
    func notifyWatchers(of client: ClientID) throws {
        for challenge in try challenges.open(of: client, limit: .max) { notify(.challenge(challenge)) }
    }
}
