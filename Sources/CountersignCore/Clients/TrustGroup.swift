package import CountersignWire

/// Clients that believe one another's devices.
package enum TrustGroup: Hashable, Sendable {
    /// All clients that are not third parties.
    case firstParty
    /// A third party with its apps.
    case thirdParty(ClientID)
}

extension Client {
    /// The group that it belongs to.
    package var trustGroup: TrustGroup { isThirdParty ? .thirdParty(id) : .firstParty }
}
