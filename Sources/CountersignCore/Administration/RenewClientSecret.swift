package import CountersignWire
package import Encodings

/// Makes a new secret for a client.
///
/// This operation is for operators: whoever stole a client's secret could otherwise renew it and lock its owner out.
package enum RenewClientSecret {
    /// How long a replaced secret remains valid, unless the request says otherwise.
    package static let overlap = Seconds.days(1)

    /// A new secret, which is shown only this once.
    package struct Renewed: Equatable, Sendable {
        /// The client.
        package let client: ClientID
        /// The secret.
        package let secret: Secret<String>
        /// Until when the previous secret is also accepted.
        package let earlierUntil: Timestamp

        /// Compares the secrets in constant time.
        package static func == (one: Renewed, other: Renewed) -> Bool {
            one.client == other.client && one.earlierUntil == other.earlierUntil && one.secret.isSame(as: other.secret)
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The new secret.
        case renewed(Renewed)
        /// There is no client with this id, or it is the operator's built-in client, which has no secret.
        case notFound
    }

    /// Makes a new secret.
    ///
    /// Until the overlap ends, the previous secret is also accepted, so that the client can change the secret without
    /// a refused call. A secret from before the previous one stops working at once, and waiting calls that used it
    /// end.
    ///
    /// - Parameters:
    ///   - id: the client.
    ///   - overlap: how long the previous secret is still accepted; 0 if it has become known.
    ///   - actor: who asks.
    ///   - key: the idempotency key of the request. Without it, a repeat for want of a reply would drop the secret
    ///     that is in use.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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

/// A repeat of the request gets the same secret, even if it no longer works.
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
