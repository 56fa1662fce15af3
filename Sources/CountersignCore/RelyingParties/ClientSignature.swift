package import CountersignWire
package import Encodings
package import JOSE

/// What a client has signed by a key of its own, whether that is in its settings or published by it.
package enum ClientSignature {
    /// The algorithms that a client may sign by; each key has one of them alone.
    ///
    /// Spec: FAPI 2.0 Security Profile §5.4.1.
    private static func algorithms(of profile: RelyingParty.Profile) -> Set<JWSAlgorithm> {
        profile == .strict ? [.es256, .ps256, .edDSA] : [.es256, .ps256, .rs256, .edDSA]
    }

    /// What came of verifying a text.
    enum Outcome: Sendable {
        /// A key of the client has signed these claims. The client may be disabled.
        case verified(Client, RelyingParty, claims: JSONValue)
        /// There is no such client, or it has no keys.
        case noKeys
        /// No key of the client has signed it, or it is of another type.
        case refused
    }

    /// Verifies a JWT by the keys of a client.
    ///
    /// - Parameters:
    ///   - text: the JWT.
    ///   - id: the client.
    ///   - types: what its `typ` may be, in small letters; it may also have none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    static func verify(
        _ text: String, of id: ClientID, types: Set<String>, ports: Ports
    ) async throws -> Outcome {
        guard let (client, party) = try await settings(of: id, ports: ports) else { return .noKeys }
        return try await verify(text, of: client, party, types: types, ports: ports)
    }

    /// Verifies a JWT by the keys of a client that was read with how it uses the provider; the other parameters are those
    /// of ``verify(_:of:types:ports:)``.
    ///
    /// - Throws: ``StoreError``.
    static func verify(
        _ text: String, of client: Client, _ party: RelyingParty, types: Set<String>, ports: Ports
    ) async throws -> Outcome {
        guard let uri = party.keysURI else {
            guard let keys = party.keys else { return .noKeys }
            guard let claims = try? verified(text, by: keys, of: party.profile, types) else { return .refused }
            return .verified(client, party, claims: claims)
        }
        guard let claims = await verified(text, byKeysOf: party, at: uri, types, ports: ports),
            // Meanwhile the client may have got another URI or profile, or have been disabled.
            let latest = try await settings(of: client.id, ports: ports), latest.party.keysURI == uri,
            latest.party.profile == party.profile
        else { return .refused }
        return .verified(latest.client, latest.party, claims: claims)
    }

    private static func settings(
        of id: ClientID, ports: Ports
    ) async throws -> (client: Client, party: RelyingParty)? {
        try await ports.store.read { reader -> (client: Client, party: RelyingParty)? in
            guard let (client, settings) = try reader.clients.findWithParty(id), let party = settings else {
                return nil
            }
            return (client, party)
        }
    }

    /// The claims of a JWT that one of the keys that a client publishes has signed; nil if none has.
    ///
    /// Where the JWT names a key that is not known, or names none and the only one has not signed it, the client may have
    /// a new one.
    ///
    /// Spec: OpenID Connect Core 1.0 §10.1.1.
    private static func verified(
        _ text: String, byKeysOf party: RelyingParty, at uri: KeysURI, _ types: Set<String>, ports: Ports
    ) async -> JSONValue? {
        let source = PublishedKeys.Source(client: party.client, uri: uri)
        let published = ports.publishedKeys.value(of: source) { PublishedKeys(source) }
        for isOneMissing in [false, true] {
            guard let keys = await published.keys(isOneMissing: isOneMissing, ports: ports) else { return nil }
            do throws(JOSEError) {
                return try verified(text, by: keys, of: party.profile, types)
            } catch {
                let isOther = [.badSignature, .wrongKey].contains(error) && !JWS.namesKey(text)
                guard error == .unknownKeyID || isOther else { return nil }
            }
        }
        return nil
    }

    /// The claims of a JWT that one of the keys has signed; nil if it is of another type.
    ///
    /// - Parameters:
    ///   - text: the JWT.
    ///   - keys: the keys of the client.
    ///   - profile: the client's, which says by which algorithms it may sign.
    ///   - types: what its `typ` may be, in small letters; it may also have none.
    package static func verified(
        _ text: String, by keys: JWKSet, of profile: RelyingParty.Profile, _ types: Set<String>
    ) throws(JOSEError) -> JSONValue? {
        let algorithms = algorithms(of: profile)
        // An only key needs no name.
        let verified =
            if let key = keys.keys.first, keys.keys.count == 1 {
                try JWS.verify(text, algorithms: algorithms, type: .unchecked, key: key)
            } else {
                try JWS.verify(text, algorithms: algorithms, type: .unchecked, keys: keys)
            }
        // Another kind of token that the client signs must not pass for this one. Spec: RFC 8725 §3.11.
        let type = verified.header["typ"]?.string?.lowercased()
        // check: ClientKeyTests.refused
        guard verified.header["typ"] == nil || type.map(types.contains) == true else { return nil }
        return try? JSONValue(parsing: verified.payload)
    }
}
