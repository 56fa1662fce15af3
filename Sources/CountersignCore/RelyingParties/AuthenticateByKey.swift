import CountersignWire
package import Encodings
import JOSE

/// Authenticates a client by an assertion that it has signed with a key of its own (`private_key_jwt`).
///
/// Spec: RFC 7523 §3, OpenID Connect Core 1.0 §9.
package enum AuthenticateByKey {
    /// The type of assertion that is taken.
    ///
    /// Spec: RFC 7523 §2.2.
    package static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How long an assertion may be good at most.
    private static let longest = Seconds.minutes(5)
    /// How far ahead a client's clock may be.
    private static let tolerance: Seconds = 10
    /// How long the name of an assertion may be.
    private static let longestName = 255

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client has signed the assertion; it may be disabled.
        case authenticated(Client)
        /// The assertion is none of a client with keys, is not for this server, is over, or came before.
        case refused
    }

    /// Authenticates the client that an assertion names.
    ///
    /// - Parameters:
    ///   - assertion: the assertion.
    ///   - audiences: what it may be for: the issuer, or the address that it was sent to.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func authenticate(
        _ assertion: Secret<String>, for audiences: [String], ports: Ports
    ) async throws -> Outcome {
        guard let (client, claims) = try await signer(of: assertion.reveal(), ports: ports),
            // One audience alone: a list could hold another server, which would then pass for the client here.
            let audience = claims["aud"]?.string, let end = claims["exp"]?.integer, let name = claims["jti"]?.string
        else { return .refused }
        // Only now: fetching keys may have taken a while.
        let (id, now) = (client.id, ports.time.now)
        // check: ClientKeyTests.refused
        guard claims["iss"] == .string("\(id)"), claims["sub"] == .string("\(id)") else { return .refused }
        // check: ClientKeyTests.refused
        guard audiences.contains(where: { $0.hasSameBytes(as: audience) }) else { return .refused }
        // check: ClientKeyTests.refused
        guard now.seconds < end, end <= now.adding(longest + tolerance).seconds else { return .refused }
        // check: ClientKeyTests.refused
        guard starts(claims, at: now) else { return .refused }
        // check: ClientKeyTests.refused
        guard (1...longestName).contains(name.utf8.count) else { return .refused }
        let isFirst = try await ports.commit(at: now, as: .client(id)) { work in
            try work.nonces.spend(nonce: name, of: "assertion \(id)", until: Timestamp(seconds: end))
        }
        // check: ClientKeyTests.refused
        guard isFirst else { return .refused }
        return .authenticated(client)
    }

    /// The client that an assertion names, and the claims that a key of the client has signed; nil if none has.
    private static func signer(
        of assertion: String, ports: Ports
    ) async throws -> (client: Client, claims: JSONValue)? {
        guard let id = JWS.unverifiedIssuer(of: assertion).flatMap({ ClientID($0) }),
            let (client, party) = try await settings(of: id, ports: ports)
        else { return nil }
        guard let uri = party.keysURI else {
            guard let keys = party.keys, let claims = try? verified(assertion, by: keys) else { return nil }
            return (client, claims)
        }
        guard let claims = await verified(assertion, byKeysOf: id, at: uri, ports: ports),
            // Meanwhile the client may have got another URI, or have been disabled.
            let latest = try await settings(of: id, ports: ports), latest.party.keysURI == uri
        else { return nil }
        return (latest.client, claims)
    }

    private static func settings(
        of id: ClientID, ports: Ports
    ) async throws -> (client: Client, party: RelyingParty)? {
        try await ports.store.read { reader -> (client: Client, party: RelyingParty)? in
            guard let client = try reader.clients.find(id), let party = try reader.relyingParties.find(id) else {
                return nil
            }
            return (client, party)
        }
    }

    /// The claims of an assertion that one of the keys that a client publishes has signed; nil if none has.
    ///
    /// Where the assertion names a key that is not known, the client may have a new one.
    ///
    /// Spec: OpenID Connect Core 1.0 §10.1.1.
    private static func verified(
        _ assertion: String, byKeysOf client: ClientID, at uri: KeysURI, ports: Ports
    ) async -> JSONValue? {
        let source = PublishedKeys.Source(client: client, uri: uri)
        let published = ports.publishedKeys.value(of: source) { PublishedKeys(source) }
        for isOneMissing in [false, true] {
            guard let keys = await published.keys(isOneMissing: isOneMissing, ports: ports) else { return nil }
            do throws(JOSEError) {
                return try verified(assertion, by: keys)
            } catch .unknownKeyID {
                continue
            } catch {
                return nil
            }
        }
        return nil
    }

    /// The claims of an assertion that one of the keys has signed; nil if it is of another kind.
    private static func verified(_ assertion: String, by keys: JWKSet) throws(JOSEError) -> JSONValue? {
        let algorithms: Set<JWSAlgorithm> = [.es256, .ps256, .rs256, .edDSA]
        // An only key needs no name.
        let verified =
            if let key = keys.keys.first, keys.keys.count == 1 {
                try JWS.verify(assertion, algorithms: algorithms, type: .unchecked, key: key)
            } else {
                try JWS.verify(assertion, algorithms: algorithms, type: .unchecked, keys: keys)
            }
        // Another kind of token that the client signs must not pass for an assertion. Spec: RFC 8725 §3.11.
        let type = verified.header["typ"]?.string?.lowercased()
        // check: ClientKeyTests.refused
        guard verified.header["typ"] == nil || type == "jwt" || type == "client-authentication+jwt" else { return nil }
        return try? JSONValue(parsing: verified.payload)
    }

    /// Whether an assertion does not begin in the future.
    private static func starts(_ claims: JSONValue, at now: Timestamp) -> Bool {
        ["iat", "nbf"].allSatisfy { name in
            guard let value = claims[name] else { return true }
            return value.integer.map { $0 <= now.adding(tolerance).seconds } ?? false
        }
    }
}
