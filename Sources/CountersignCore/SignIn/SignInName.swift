package import CountersignWire

/// Whom a sign-in is about, before anybody is authenticated.
package enum SignInName: Hashable, Sendable {
    /// By an address, which the person typed or the client suggested.
    case address(PersonalAddress)
    /// By the client's own name for the user, which only the client can say.
    case externalID(ExternalID)

    /// The name, as it is stored.
    package var text: String {
        switch self {
        case .address(let address): "\(address)"
        case .externalID(let name): UserReference.externalID(name).text
        }
    }

    /// The address; nil for a name that is none.
    package var address: PersonalAddress? { if case .address(let address) = self { address } else { nil } }

    /// Reads the stored form, or nil.
    package init?(_ text: String) {
        if case .externalID(let name) = UserReference(text) {
            self = .externalID(name)
        } else if let address = PersonalAddress(text) {
            self = .address(address)
        } else {
            return nil
        }
    }
}

extension Stores {
    /// The user whom a name means at a client; nil for nobody.
    ///
    /// An address that its user has proved means them at each client that knows them. What a client only says of an
    /// address counts for that client alone, and not against a proof.
    func person(named name: SignInName, at client: ClientID, _ hasher: KeyedHasher) throws -> UserID? {
        switch name {
        case .externalID(let external): return try links.find(.externalID(external), of: client)?.id
        case .address(let address):
            let name = hasher.identifier(address)
            let claim = try identifiers.claim(name, by: client)
            if let claim, claim.provedAt != nil { return claim.user }
            guard let verified = try identifiers.verified(name) else { return claim?.user }
            return try links.find(.id(verified.user), of: client)?.id
        }
    }
}
