package import CountersignWire
package import Encodings

/// Makes a new secret that signs callbacks to a client.
///
/// For operators.
package enum RenewCallbackSecret {
    /// A new secret, shown this once.
    package struct Renewed: Equatable, Sendable {
        /// The secret.
        package let secret: Secret<String>
        /// Until when callbacks are signed with the earlier one, too.
        package let earlierUntil: Timestamp

        /// Compares the secrets in constant time.
        package static func == (one: Renewed, other: Renewed) -> Bool {
            one.earlierUntil == other.earlierUntil && one.secret.isSame(as: other.secret)
        }
    }

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The new secret.
        case renewed(Renewed)
        /// There is no client of this id that is called back.
        case notFound
    }

    /// Makes a new secret.
    ///
    /// The earlier one signs beside it for a while, so that a receiver can be given the new one without missing a
    /// callback; one that was earlier still is dropped.
    ///
    /// - Parameters:
    ///   - id: the client.
    ///   - overlap: how long the earlier one still signs; 0 where it has become known.
    ///   - actor: who asks.
    ///   - key: names the request: done twice for want of a reply, it would drop the secret that the receiver has.
    ///   - ports: the external dependencies.
    package static func renew(
        of id: ClientID, overlap: Seconds = RenewClientSecret.overlap, by actor: Actor,
        idempotency key: IdempotencyKey? = nil, ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let renewed = Renewed(
            secret: CreateClient.newCallbackSecret(ports.random), earlierUntil: now.adding(overlap))
        return try await ports.commit(at: now, as: actor) { work in
            try work.once(key, id) {
                guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
                try work.clients.renewCallbackSecret(of: id, to: renewed.secret, earlierUntil: renewed.earlierUntil)
                try work.raise(.callbackSecretRenewed(id, earlierUntil: renewed.earlierUntil))
                return .renewed(renewed)
            }
        }
    }
}

/// A repeat gets the secret that was made, also when another was made since.
extension RenewCallbackSecret.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .renewed(let renewed) = self else { return nil }
        return KeptForm([
            "secret": .string(renewed.secret.reveal()), "earlier_until": .string("\(renewed.earlierUntil)"),
        ])
    }

    init?(kept: KeptForm, of _: ClientID) {
        guard let secret = kept.read("secret", { Secret($0) }),
            let until = kept.read("earlier_until", { Timestamp($0) })
        else { return nil }
        self = .renewed(.init(secret: secret, earlierUntil: until))
    }
}
