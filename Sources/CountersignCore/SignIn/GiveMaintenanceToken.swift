package import CountersignWire
package import Encodings

/// Gives a device with JWKs an access token for its own enrollment, by an assertion that it has signed.
///
/// Nobody is asked, and nobody is signed in: the token has none of the provider's scopes.
/// Spec: docs/protocol/jwk-devices.md, *A token for the device's own enrollment*; RFC 7523 §2.1 and §3.
package enum GiveMaintenanceToken {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets a token.
        case given(UnsignedTokens)
        /// The assertion is not good or came before, or its device is not one of the client's app.
        case invalid
        /// None of the scopes is one of maintenance.
        case scopeMissing
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The device has asked too often; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The client is disabled, uses the provider no more, or may not make the vendor's calls.
        case clientGone
    }

    /// Gives a token.
    ///
    /// - Parameters:
    ///   - assertion: what the device has signed.
    ///   - named: the scopes that the device wants.
    ///   - client: the client, which the caller has authenticated.
    ///   - vendor: the vendor whose calls are made.
    ///   - key: the key that the client has proved to have; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func give(
        by assertion: Secret<String>, scopes named: [String], to client: ClientID, making vendor: Vendor,
        with key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let scopes = VendorScopes.maintenance.filter(named.contains)
        // check: OktaMaintenanceTests.scopes
        guard !scopes.isEmpty else { return .scopeMissing }
        guard let assertion = try await verified(assertion.reveal(), at: now, ports: ports) else { return .invalid }
        let keys = try ports.keys.current().tokens
        let id: TokenFamilyID = ports.random.id(at: now)
        return try await ports.commit(at: now, as: .device(assertion.enrollment)) { work in
            guard let (found, party) = try work.clients.lockWithParty(client), found.disabledAt == nil
            else { return .clientGone }
            // check: GiveMaintenanceTokenTests.nothing
            guard found.vendors.contains(vendor) else { return .clientGone }
            try keys.require(.es256)
            // check: OktaMaintenanceTests.bound
            guard key != nil || !party.bindsTokens else { return .unproved(.missing) }
            // Whoever removes or suspends the device has this lock, too.
            try work.users.lock(assertion.user)
            guard let device = try work.enrollments.find(assertion.enrollment) else { return .invalid }
            // check: GiveMaintenanceTokenTests.nothing
            guard device.isLetIn(at: now) else { return .invalid }
            // check: GiveMaintenanceTokenTests.otherClient
            guard device.client == client else { return .invalid }
            // check: GiveMaintenanceTokenTests.unlinked
            guard try work.links.find(.id(device.user), of: client) != nil else { return .invalid }
            let before = try work.counted(.ownSignIns(device.id))
            if before.isUsedUp { return .tooMany(retryAfter: before.retryAfter(at: now)) }
            let once = ReplayGuard(
                assertion.name, of: "maintenance \(device.id)",
                until: Timestamp(seconds: assertion.expiresAt).adding(ReplayGuard.tolerance + ReplayGuard.margin))
            // check: OktaMaintenanceTests.once
            guard try work.spend(once) == nil else { return .invalid }
            // check: GiveMaintenanceTokenTests.replayed
            guard try work.spend(key) else { return .unproved(.replayed) }
            _ = try work.count(.ownSignIns(device.id))
            let family = TokenFamily(
                id: id, client: client, session: nil, sid: nil, scopes: scopes, resources: [],
                authentication: Authentication(byItself: device, at: now), boundTo: key?.thumbprint, at: now)
            try work.families.insert(family)
            try work.raise(.tokensGiven(family))
            return .given(
                UnsignedTokens(
                    family: family, target: AccessTarget(resource: nil, scopes: scopes), isIdentified: false,
                    nonce: nil, party: party, keyThumbprint: key?.thumbprint))
        }
    }

    /// An assertion that is good, of a device that there is or was; nil for any other.
    private static func verified(
        _ text: String, at now: Timestamp, ports: Ports
    ) async throws -> MaintenanceAssertion? {
        guard let id = MaintenanceAssertion.enrollment(namedBy: text),
            let device = try await ports.store.read({ try $0.enrollments.find(id) }), let keys = device.jwks,
            keys.form == .jwt,
            let assertion = MaintenanceAssertion(
                text, by: keys, at: ports.issuer, now: now, tolerance: ReplayGuard.tolerance)
        else { return nil }
        return assertion.user == device.user && assertion.enrollment == id ? assertion : nil
    }
}
