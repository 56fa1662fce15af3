package import CountersignWire

/// What a client says of its user's addresses; nil leaves an address as it is, an inner nil takes it back.
package struct ClaimedAddresses: Hashable, Sendable {
    /// The mail address.
    package var email: EmailAddress??
    /// The telephone number.
    package var phone: PhoneNumber??

    /// Addresses of these parts.
    package init(email: EmailAddress?? = nil, phone: PhoneNumber?? = nil) {
        self.email = email
        self.phone = phone
    }

    fileprivate var changes: [(kind: PersonalAddress.Kind, address: PersonalAddress?)] {
        var changes: [(kind: PersonalAddress.Kind, address: PersonalAddress?)] = []
        if let email { changes.append((.email, email.map(PersonalAddress.email))) }
        if let phone { changes.append((.phone, phone.map(PersonalAddress.phone))) }
        return changes
    }
}

extension UnitOfWork {
    /// Whether another user of the client has one of these addresses on its word.
    func isClaimed(_ addresses: ClaimedAddresses, by client: ClientID, besides user: UserID?) throws -> Bool {
        for change in addresses.changes {
            guard let address = change.address else { continue }
            if let claim = try identifiers.claim(hasher.identifier(address), by: client), claim.user != user {
                return true
            }
        }
        return false
    }

    /// Puts what a client says of its user's addresses in the place of what it said before.
    func claim(_ addresses: ClaimedAddresses, of user: UserID, by client: ClientID) throws {
        for change in addresses.changes {
            let earlier = try identifiers.claims(of: user).filter {
                $0.client == client && $0.address.kind == change.kind
            }
            // What was proved of it stays.
            if let address = change.address, earlier.map(\.address) == [address] { continue }
            for claim in earlier { try identifiers.delete(claim.id) }
            guard let address = change.address else { continue }
            let claim = ClaimedIdentifier(id: nextID(), user: user, address: address, client: client, claimedAt: now)
            guard try identifiers.insert(claim, as: hasher.identifier(address)) else {
                throw StoreError.serializationFailure
            }
        }
    }

    /// Notes that the user has proved an address which they have on a client's word.
    ///
    /// The client's word made the user, and what it enrolled for them; so none of it is the user's own by this proof. On a
    /// third party's word the address says only there who somebody is.
    func verify(_ claim: ClaimedIdentifier) throws -> VerifiedIdentifier {
        try raise(.claimProved(claim))
        guard try clients.find(claim.client)?.isThirdParty ?? true else {
            return try verify(claim.address, of: claim.user)
        }
        try identifiers.prove(claim.id, at: now)
        let identifier = VerifiedIdentifier(
            id: claim.id, user: claim.user, address: claim.address, verifiedAt: now, client: claim.client)
        try raise(.identifierVerified(identifier))
        return identifier
    }

    /// Makes an address a user's, who has proved it.
    ///
    /// What other clients claim of it for others ends: they were wrong. What the user has proved of it at a third party
    /// stays. What is claimed of it for this user stays the clients' word, which is true now.
    func verify(_ address: PersonalAddress, of user: UserID) throws -> VerifiedIdentifier {
        let name = hasher.identifier(address)
        let identifier = VerifiedIdentifier(id: nextID(), user: user, address: address, verifiedAt: now)
        guard try identifiers.insert(identifier, as: name) else { throw StoreError.serializationFailure }
        try identifiers.forgetRemoved(name, of: user)
        try raise(.identifierVerified(identifier))
        for claim in try identifiers.claims(on: name) where claim.user != user && claim.provedAt == nil {
            try users.lock(claim.user)
            try identifiers.delete(claim.id)
            try raise(.claimEnded(claim))
        }
        return identifier
    }
}
