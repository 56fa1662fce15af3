package import CountersignWire
package import Encodings

/// Authenticates the callers of the API.
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
    /// An unknown id costs the same comparisons as a wrong secret, so the time of the reply does not tell which one
    /// it was. A disabled client is authenticated as well, because a caller with the right secret is told that the
    /// client is disabled.
    ///
    /// - Parameters:
    ///   - id: the client's id, as the caller sent it.
    ///   - secret: the client's secret, as the caller sent it.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func authenticate(_ id: String, secret: Secret<String>, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let client = try await ports.store.read { reader in try ClientID(id).flatMap { try reader.clients.find($0) } }
        let newest = client?.secretHash ?? SecretHash(of: Secret(""))
        let earlier = client?.earlierSecret
        let (isNewest, isEarlier) = (newest.matches(secret), (earlier?.hash ?? newest).matches(secret))
        guard let client, client.secretHash != nil else { return .refused }
        let shown: SecretHash
        if isNewest {
            shown = newest
        } else {
            guard let earlier, isEarlier, now < earlier.until else { return .refused }
            shown = earlier.hash
        }
        let caller = ClientCaller(client: client, secret: shown)
        ports.knownCredentials.keep(caller.credential, as: caller.credential.client)
        return .authenticated(caller)
    }

    /// The credential of a client whose secret was right before, found without the database.
    ///
    /// It may be valid no more, so it is only for operations that take a ``ClientCredential``: they check it in their
    /// transaction.
    ///
    /// - Parameters:
    ///   - id: the client's id, as the caller sent it.
    ///   - secret: the client's secret, as the caller sent it.
    ///   - ports: the external dependencies.
    /// - Returns: nil if the client must be authenticated.
    package static func recognize(_ id: String, secret: Secret<String>, ports: Ports) -> ClientCredential? {
        guard let known = ClientID(id).flatMap({ ports.knownCredentials[$0] }), known.secret?.matches(secret) == true
        else { return nil }
        return known
    }

    /// Why a caller may not do what needs a right; nil if it may.
    ///
    /// - Parameters:
    ///   - caller: the credential that the caller has shown.
    ///   - right: the right.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func refusal(
        of caller: ClientCredential, needing right: Right, ports: Ports
    ) async throws -> CallerRefusal? {
        let now = ports.time.now
        return try await ports.store.read { try $0.refusal(of: caller, needing: right, at: now) }
    }

    /// Authenticates the operator's client by the bootstrap token, which is valid only on the server's own machine.
    ///
    /// - Parameters:
    ///   - bootstrapToken: the token.
    ///   - isFromLoopback: whether the call comes from the server's own machine.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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

/// An authenticated client.
package struct ClientCaller: Hashable, Sendable {
    /// The client.
    package let client: Client
    /// The credential that the client has shown.
    package let credential: ClientCredential

    /// The actor of the client's calls.
    package var actor: Actor {
        if credential.secret == nil { return .bootstrap(client.id) }
        return client.isOperator ? .operator(client.id) : .client(client.id)
    }

    /// An authenticated client.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - secret: the hash of the secret that it has shown; nil for the operator's client with the bootstrap token.
    package init(client: Client, secret: SecretHash?) {
        self.client = client
        credential = ClientCredential(client: client.id, secret: secret)
    }
}

/// The credential of a caller, which may be valid no more: operations that take it check it where they read, and those
/// that wait check it again at the end.
package struct ClientCredential: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The hash of the secret it has shown; nil for the operator's client, which has none.
    package let secret: SecretHash?

    /// The actor of the caller's operations.
    var actor: Actor { secret == nil ? .bootstrap(client) : .client(client) }

    /// A credential of these parts.
    package init(client: ClientID, secret: SecretHash?) {
        self.client = client
        self.secret = secret
    }
}

/// Why an authenticated caller is no longer accepted.
package enum CallerRefusal: Error, Hashable, Sendable {
    /// The client does not exist any more, or its secret is no longer valid.
    case unknown
    /// The client is disabled.
    case disabled
    /// The client has lost this right.
    case rightMissing(Right)
}

extension Stores {
    /// Why a caller may not do what needs a right; nil if it may.
    func refusal(of caller: ClientCredential, needing right: Right, at now: Timestamp) throws -> CallerRefusal? {
        caller.refusal(as: try clients.find(caller.client), needing: right, at: now)
    }
}

extension ClientCredential {
    /// Why the caller may not do what needs a right; nil if it may.
    ///
    /// - Parameters:
    ///   - client: the client as it is now; nil if it is there no more.
    ///   - right: the right.
    ///   - now: the current time.
    func refusal(as client: Client?, needing right: Right, at now: Timestamp) -> CallerRefusal? {
        guard let client else { return .unknown }
        let isEarlier = client.earlierSecret.map { $0.hash == secret && now < $0.until } ?? false
        // check: KnownCallersTests.earlierSecret
        guard client.secretHash == secret || isEarlier else { return .unknown }
        // check: KnownCallersTests.client
        guard client.disabledAt == nil else { return .disabled }
        return client.rights.contains(right) ? nil : .rightMissing(right)
    }
}
