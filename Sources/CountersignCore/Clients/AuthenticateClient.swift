package import CountersignWire
package import Encodings

/// Finds out who calls the API.
package enum AuthenticateClient {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The credentials are valid; the client may be disabled.
        case authenticated(ClientCaller)
        /// The credentials are wrong, expired, or not valid from where the caller is.
        case refused
    }

    /// Authenticates a client by its id and secret.
    ///
    /// An unknown id costs the same comparisons as a wrong secret, so time tells nobody which it was. One that is
    /// disabled is found, too: its callers are told so, who have shown its secret.
    package static func authenticate(_ id: String, secret: Secret<String>, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let client = try await ports.store.read { reader in try ClientID(id).flatMap { try reader.clients.find($0) } }
        let newest = client?.secretHash ?? SecretHash(of: Secret(""))
        let earlier = client?.earlierSecret
        let (isNewest, isEarlier) = (newest.matches(secret), (earlier?.hash ?? newest).matches(secret))
        guard let client, client.secretHash != nil else { return .refused }
        if isNewest { return .authenticated(ClientCaller(client: client, secret: newest)) }
        guard let earlier, isEarlier, now < earlier.until else { return .refused }
        return .authenticated(ClientCaller(client: client, secret: earlier.hash))
    }

    /// Authenticates the operator's client by the bootstrap token, which is valid only on the server's own machine.
    ///
    /// - Parameters:
    ///   - bootstrapToken: the token.
    ///   - isFromLoopback: whether the caller is on the server's own machine.
    package static func authenticate(
        bootstrapToken: Secret<String>, isFromLoopback: Bool, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let token = try reader.keys.bootstrapToken(), token.hash.matches(bootstrapToken), isFromLoopback,
                now < token.expiresAt, let client = try reader.clients.operatorClient()
            else { return .refused }
            return .authenticated(ClientCaller(client: client, secret: nil))
        }
    }
}

/// A client that has shown who it is.
package struct ClientCaller: Hashable, Sendable {
    /// The client.
    package let client: Client
    /// By what it was let in.
    package let credential: ClientCredential

    /// Who acts by its calls.
    package var actor: Actor {
        if credential.secret == nil { return .bootstrap(client.id) }
        return client.isOperator ? .operator(client.id) : .client(client.id)
    }

    /// A client that has shown a secret with this hash; nil for the operator's client by the bootstrap token.
    package init(client: Client, secret: SecretHash?) {
        self.client = client
        credential = ClientCredential(client: client.id, secret: secret)
    }
}

/// By what a client was let in, kept as long as it waits: it waits no longer than it would be let in.
package struct ClientCredential: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The hash of the secret it has shown; nil for the operator's client, which has none.
    package let secret: SecretHash?

    /// A credential of these parts.
    package init(client: ClientID, secret: SecretHash?) {
        self.client = client
        self.secret = secret
    }
}

/// Why a caller that was let in is let in no more.
package enum CallerRefusal: Error, Hashable, Sendable {
    /// The client is gone, or its secret good no more.
    case unknown
    /// The client is disabled.
    case disabled
    /// It has lost a right.
    case rightMissing(Right)
}

extension Stores {
    /// Why a caller may not do what takes a right, or nil.
    func refusal(of caller: ClientCredential, needing right: Right, at now: Timestamp) throws -> CallerRefusal? {
        guard let client = try clients.find(caller.client) else { return .unknown }
        let isEarlier = client.earlierSecret.map { $0.hash == caller.secret && now < $0.until } ?? false
        guard client.secretHash == caller.secret || isEarlier else { return .unknown }
        guard client.disabledAt == nil else { return .disabled }
        return client.rights.contains(right) ? nil : .rightMissing(right)
    }
}
