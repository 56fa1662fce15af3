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
            for earlier in try identifiers.claims(of: user)
            where earlier.client == client && earlier.address.kind == change.kind {
                try identifiers.delete(earlier.id)
            }
            guard let address = change.address else { continue }
            let claim = ClaimedIdentifier(id: nextID(), user: user, address: address, client: client, claimedAt: now)
            guard try identifiers.insert(claim, as: hasher.identifier(address)) else {
                throw StoreError.serializationFailure
            }
        }
    }

    /// Makes an address a user's, who has proved it.
    ///
    /// What other clients claim of it for others ends: they were wrong. What is claimed of it for this user stays the
    /// clients' word, which is true now.
    func verify(_ address: PersonalAddress, of user: UserID) throws -> VerifiedIdentifier {
        let name = hasher.identifier(address)
        let identifier = VerifiedIdentifier(id: nextID(), user: user, address: address, verifiedAt: now)
        guard try identifiers.insert(identifier, as: name) else { throw StoreError.serializationFailure }
        try raise(.identifierVerified(identifier))
        for claim in try identifiers.claims(on: name) where claim.user != user {
            try identifiers.delete(claim.id)
            try raise(.claimEnded(claim))
        }
        return identifier
    }
}
