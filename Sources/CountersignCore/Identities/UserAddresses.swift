package import CountersignWire

/// The addresses of a user, as one client may see them: at most one of each kind.
package struct UserAddresses: Hashable, Sendable {
    /// An address, and whether the user has proved it.
    package struct Entry: Hashable, Sendable {
        /// The address.
        package let address: PersonalAddress
        /// Whether the user has proved it.
        package let isVerified: Bool

        /// An entry of these parts.
        package init(_ address: PersonalAddress, isVerified: Bool) {
            self.address = address
            self.isVerified = isVerified
        }
    }

    /// The entries, of different kinds.
    package let entries: [Entry]

    /// Addresses of these parts.
    package init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The address of a kind; nil if there is none.
    package subscript(kind: PersonalAddress.Kind) -> Entry? { entries.first { $0.address.kind == kind } }
}

extension Stores {
    /// What a client itself says of a user's addresses, and whether it is proved.
    ///
    /// A third party learns only what was proved at it: it could otherwise guess what users have proved elsewhere.
    func claimedAddresses(
        of user: UserID, by client: ClientID, isThirdParty: Bool, _ hasher: KeyedHasher
    ) throws -> UserAddresses {
        let (verified, claims) = try identifiers.identifiers(of: user)
        let proved = isThirdParty ? [] : Set(verified.map { hasher.identifier($0.address) })
        return UserAddresses(
            claims.filter { $0.client == client }
                .map {
                    .init(
                        $0.address, isVerified: $0.provedAt != nil || proved.contains(hasher.identifier($0.address)))
                })
    }

    /// What a client learns of a user who lets it know their addresses: the first that the user has proved, or else
    /// what the client itself says.
    func addresses(of user: UserID, for client: ClientID) throws -> UserAddresses {
        let (verified, claims) = try identifiers.identifiers(of: user)
        let own = claims.filter { $0.client == client }
        // The claim of one who is no third party is among the verified ones if it is proved.
        let known =
            verified.map { UserAddresses.Entry($0.address, isVerified: true) }
            + own.filter { $0.provedAt != nil }.map { UserAddresses.Entry($0.address, isVerified: true) }
            + own.filter { $0.provedAt == nil }.map { UserAddresses.Entry($0.address, isVerified: false) }
        return UserAddresses(
            PersonalAddress.Kind.allCases.compactMap { kind in known.first { $0.address.kind == kind } })
    }
}
