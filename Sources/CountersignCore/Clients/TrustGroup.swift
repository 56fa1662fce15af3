package import CountersignWire

/// Clients that believe one another's devices.
package enum TrustGroup: Hashable, Sendable {
    /// All clients that are not third parties.
    case firstParty
    /// A third party.
    case thirdParty(ClientID)

    /// The group of a client.
    package init(of client: ClientID, isThirdParty: Bool) {
        self = isThirdParty ? .thirdParty(client) : .firstParty
    }

    /// The third party; nil for the group of all others.
    var thirdParty: ClientID? { if case .thirdParty(let client) = self { client } else { nil } }
}

extension Client {
    /// The group that it belongs to.
    package var trustGroup: TrustGroup { TrustGroup(of: id, isThirdParty: isThirdParty) }
}
