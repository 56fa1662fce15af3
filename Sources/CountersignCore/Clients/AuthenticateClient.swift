package import CountersignWire
import Crypto
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
        let client = try await ports.store.read { reader in try ClientID(id).flatMap { try reader.clients.find($0) } }
        return authenticate(client, secret: secret, ports: ports)
    }

    /// Authenticates a client that uses the OpenID provider, by its id and secret; the parameters are those of
    /// ``authenticate(_:secret:ports:)``.
    ///
    /// - Returns: the result, and how the client uses the provider; nil if it does not, or is not authenticated.
    /// - Throws: ``StoreError``.
    package static func authenticateRelyingParty(
        _ id: String, secret: Secret<String>, ports: Ports
    ) async throws -> (Outcome, RelyingParty?) {
        let found = try await ports.store.read { reader in
            try ClientID(id).flatMap { try reader.clients.findWithParty($0) }
        }
        let outcome = authenticate(found?.client, secret: secret, ports: ports)
        guard case .authenticated = outcome else { return (outcome, nil) }
        return (outcome, found?.party)
    }

    private static func authenticate(_ client: Client?, secret: Secret<String>, ports: Ports) -> Outcome {
        let now = ports.time.now
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
        if credential.proof == .bootstrap { return .bootstrap(client.id) }
        return client.isOperator ? .operator(client.id) : .client(client.id)
    }

    /// An authenticated client.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - secret: the hash of the secret that it has shown; nil for the operator's client with the bootstrap token.
    package init(client: Client, secret: SecretHash?) {
        self.client = client
        credential = ClientCredential(client: client.id, proof: secret.map { .secret($0) } ?? .bootstrap)
    }

    /// A client that has shown an access token of its own.
    init(client: Client, token: ClientToken) {
        self.client = client
        credential = ClientCredential(client: client.id, proof: .token(token))
    }

    /// A client that its door has authenticated otherwise, such as by an assertion, for one request that does not wait.
    package init(forOneRequest client: Client) {
        self.client = client
        credential = ClientCredential(client: client.id, proof: .request)
    }

    /// Whether the client may do what needs a right, with the credential that it has shown.
    package func has(_ right: Right) -> Bool { client.rights.contains(right) && credential.isFor(right) }
}

/// The credential of a caller, which may be valid no more: operations that take it check it where they read, and those
/// that wait check it again at the end.
package struct ClientCredential: Hashable, Sendable {
    /// What a client has shown.
    enum Proof: Hashable, Sendable {
        /// The operator's bootstrap token.
        case bootstrap
        /// A secret with this hash.
        case secret(SecretHash)
        /// An access token of its own.
        case token(ClientToken)
        /// Something that the door has checked, and that ends with the request.
        case request
    }

    /// The client.
    package let client: ClientID
    /// What it has shown.
    let proof: Proof

    /// The hash of the secret it has shown; nil if it was another proof.
    var secret: SecretHash? { if case .secret(let hash) = proof { hash } else { nil } }

    /// Whether it is for what needs a right, if the client has the right.
    fileprivate func isFor(_ right: Right) -> Bool {
        if case .token(let token) = proof { token.rights.contains(right) } else { true }
    }

    /// The actor of the caller's operations.
    var actor: Actor { proof == .bootstrap ? .bootstrap(client) : .client(client) }

    /// A credential of these parts.
    init(client: ClientID, proof: Proof) {
        self.client = client
        self.proof = proof
    }
}

/// An access token that a client has got for itself.
package struct ClientToken: Hashable, Sendable {
    /// Its own name.
    package let jti: String
    /// What it is for.
    package let rights: Set<Right>
    /// When it was signed.
    package let issuedAt: Timestamp
    /// When it ends.
    package let expiresAt: Timestamp
    /// The mark of the secret that the client had when it got the token.
    let secretMark: String
}

extension Client {
    /// What tells the client's secret from an earlier one, so that tokens end with it.
    var secretMark: String {
        Base64URL.encode(Array(SHA256.hash(data: Array("token".utf8) + (secretHash?.bytes ?? [])).prefix(12)))
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

extension Ports {
    /// Forgets a secret that was right before, and is no more.
    func forget(_ caller: ClientCredential) {
        if caller.secret != nil { knownCredentials.forget(caller.client) }
    }
}

extension Stores {
    /// Why a caller may not do what needs a right; nil if it may.
    func refusal(of caller: ClientCredential, needing right: Right, at now: Timestamp) throws -> CallerRefusal? {
        try refusal(of: caller, as: try clients.find(caller.client), needing: right, at: now)
    }

    /// Why a caller may not do what needs a right; nil if it may.
    ///
    /// - Parameters:
    ///   - caller: the credential that the caller has shown.
    ///   - client: the client as it is now; nil if it is there no more.
    ///   - right: the right.
    ///   - now: the current time.
    func refusal(
        of caller: ClientCredential, as client: Client?, needing right: Right, at now: Timestamp
    ) throws -> CallerRefusal? {
        if case .token(let token) = caller.proof {
            // A wait outlives the check of its token.
            // check: ClientTokenTests.waits
            guard try !families.isRevoked(token.jti) && relyingParties.find(caller.client) != nil else {
                return .unknown
            }
        }
        return caller.refusal(as: client, needing: right, at: now)
    }
}

extension ClientCredential {
    fileprivate func refusal(as client: Client?, needing right: Right, at now: Timestamp) -> CallerRefusal? {
        guard let client else { return .unknown }
        let isGood =
            switch proof {
            case .bootstrap: client.secretHash == nil
            case .secret(let hash):
                client.secretHash == hash
                    || client.earlierSecret.map { $0.hash == hash && now < $0.until } ?? false
            case .request: true
            case .token(let token): now < token.expiresAt && token.secretMark.hasSameBytes(as: client.secretMark)
            }
        // check: KnownCallersTests.earlierSecret
        guard isGood else { return .unknown }
        // check: KnownCallersTests.client
        guard client.disabledAt == nil else { return .disabled }
        return client.rights.contains(right) && isFor(right) ? nil : .rightMissing(right)
    }
}

extension UnitOfWork {
    /// Makes all calls that wait for a client's open challenges check again whether they are still allowed.
    func notifyWatchers(of client: ClientID) throws {
        for challenge in try challenges.open(of: client, limit: .max) { notify(.challenge(challenge)) }
    }
}
