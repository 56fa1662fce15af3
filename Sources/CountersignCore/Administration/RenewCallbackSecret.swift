package import CountersignWire
package import Encodings

/// Makes a new secret that signs callbacks to a client.
///
/// This operation is for operators.
package enum RenewCallbackSecret {
    /// A new secret, which is shown only this once.
    package struct Renewed: Equatable, Sendable {
        /// The secret.
        package let secret: Secret<String>
        /// Until when callbacks are also signed with the previous secret.
        package let earlierUntil: Timestamp

        /// Compares the secrets in constant time.
        package static func == (one: Renewed, other: Renewed) -> Bool {
            one.earlierUntil == other.earlierUntil && one.secret.isSame(as: other.secret)
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The new secret.
        case renewed(Renewed)
        /// There is no client with this id, or it is the operator's built-in client, which gets no callbacks.
        case notFound
    }

    /// Makes a new secret.
    ///
    /// Until the overlap ends, callbacks are signed with both the new and the previous secret, so that the receiver
    /// can change the secret without missing a callback. A secret from before the previous one is dropped at once.
    ///
    /// - Parameters:
    ///   - id: the client.
    ///   - overlap: how long the previous secret still signs; 0 if it has become known.
    ///   - actor: who asks.
    ///   - key: the idempotency key of the request. Without it, a client that repeats the request for want of a reply
    ///     would drop the secret that its receiver has.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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

/// A repeat of the request gets the same secret, even if another one was made since.
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
