package import CountersignWire

/// What a person is asked before a client gets something.
package struct ConsentQuestion: Equatable, Sendable {
    /// What the client wants.
    package let wanted: Wanted
    /// The person.
    package let user: UserID
    /// The person's addresses, as the client may know them.
    package let addresses: UserAddresses
    /// Whether the person has allowed all of it; then they are only asked whether they go on.
    ///
    /// Any program on the person's machine can pass for an app. Spec: RFC 8252 §8.6.
    package let isGiven: Bool
}

/// What a person has answered to a question.
package enum ConsentAnswer: Equatable, Sendable {
    /// Nothing yet.
    case none
    /// This user goes on with what they have allowed before.
    case goesOn(UserID)
    /// This user allows what the client wants.
    case allows(UserID)
}

extension UnitOfWork {
    /// Whether a person must be asked before a client gets what it wants.
    ///
    /// A client of the operator's is no stranger who asks for something.
    func needsConsent(of user: UserID, to wanted: Wanted, by client: Client) throws -> Bool {
        if wanted.asksConsent { return true }
        guard client.isThirdParty else { return false }
        let given = try grants.find(user, for: wanted.client)?.scopes ?? []
        return !given.isSuperset(of: wanted.scopes)
    }

    /// The question for a person.
    func question(to user: UserID, about wanted: Wanted, isGiven: Bool) throws -> ConsentQuestion {
        ConsentQuestion(
            wanted: wanted, user: user, addresses: try stores.addresses(of: user, for: wanted.client), isGiven: isGiven)
    }

    /// Notes that a user allows a client what it wants, besides what the user has allowed it before.
    func give(_ wanted: Wanted, by user: UserID) throws {
        let given = try grants.find(user, for: wanted.client)?.scopes ?? []
        let grant = Grant(
            user: user, client: wanted.client, scopes: given.union(wanted.scopes), givenAt: now)
        try grants.put(grant)
        try raise(.consentGiven(grant))
    }
}
