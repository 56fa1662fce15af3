package import CountersignWire
package import Encodings

/// Authenticates whoever manages devices with JWKs, by an access token.
package enum AuthenticateOwner {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The owner of the devices.
        case owner(DeviceOwner)
        /// The token is not ours, is over, was taken back, or its user is the client's no more.
        case invalidToken
        /// The client may not make the vendor's calls.
        case switchedOff
    }

    /// Authenticates an owner.
    ///
    /// - Parameters:
    ///   - token: the access token.
    ///   - key: the key that came with it; nil for none.
    ///   - vendor: the vendor whose calls are made.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func authenticate(
        _ token: Secret<String>, by key: ProvedKey? = nil, making vendor: Vendor, ports: Ports
    ) async throws -> Outcome {
        guard let access = try await VerifyAccessToken.verify(token, by: key, ports: ports) else {
            return .invalidToken
        }
        let family = access.family
        let client = try await ports.store.read { reader -> Client? in
            guard try reader.links.find(.id(family.user), of: family.client) != nil else { return nil }
            return try reader.clients.find(family.client)
        }
        guard let client, client.disabledAt == nil else { return .invalidToken }
        // check: OktaSwitchTests.off
        guard client.vendors.contains(vendor) else { return .switchedOff }
        let evidence = family.authentication.evidence
        return .owner(
            DeviceOwner(
                user: family.user, client: client, scopes: access.scopes,
                device: evidence.challenge == nil ? evidence.enrollment : nil))
    }
}
