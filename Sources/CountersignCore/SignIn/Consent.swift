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
    /// Whether the person has an account page, on which access is ended.
    package let hasAccountPage: Bool
    /// The APIs at which the client wants something, by their names for people.
    package let apis: [API]

    /// An API at which a client wants something.
    package struct API: Equatable, Sendable {
        /// Its name for people.
        package let name: String
        /// What the client wants there.
        package let scopes: [String]
    }
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
        // It was never allowed before.
        if wanted.details != nil { return true }
        let given = try grants.find(user, for: wanted.client)?.scopes ?? []
        return !given.isSuperset(of: wanted.grantedNames)
    }

    /// The question for a person.
    func question(to user: UserID, about wanted: Wanted, isGiven: Bool) throws -> ConsentQuestion {
        ConsentQuestion(
            wanted: wanted, user: user, addresses: try stores.addresses(of: user, for: wanted.client), isGiven: isGiven,
            hasAccountPage: try relyingParties.account() != nil,
            apis: try wanted.resources.map { access in
                .init(name: try stores.name(ofAPI: access.owner), scopes: access.scopes)
            })
    }

    /// Notes that a user allows a client what it wants, besides what the user has allowed it before.
    func give(_ wanted: Wanted, by user: UserID) throws {
        let given = try grants.find(user, for: wanted.client)?.scopes ?? []
        let grant = Grant(
            user: user, client: wanted.client, scopes: given.union(wanted.grantedNames), givenAt: now)
        try grants.put(grant)
        try raise(.consentGiven(grant))
    }
}

extension Wanted {
    /// The names under which a grant holds what the client wants.
    fileprivate var grantedNames: [String] { scopes + resources.flatMap(\.grantedNames) }
}
