package import CountersignWire

/// Lets a client use the OpenID provider, or changes how it does.
///
/// This operation is for operators.
package enum SetRelyingParty {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client now uses the provider so.
        case set(RelyingParty)
        /// There is no client with this id, or it is the operator's built-in client.
        case notFound
        /// A challenge type is not there, or the client may not ask by it, or it has no number to type.
        case typeNotUsable(TypeName)
        /// The challenge type by which the client's server asks is not there, or the client may not ask by it, or it has a
        /// number to type, which the client would not show.
        case backchannelTypeNotUsable
        /// By each of its ways people copy digits from one screen to another, which not everybody can.
        case onlyCopies
        /// The account page is one of several redirect URIs.
        case accountAmongOthers
        /// Another client is the API of this name, or it is the issuer's own.
        case resourceTaken
        /// A scope of the API is one of the provider's own.
        case scopeTaken(String)
    }

    /// Sets how a client uses the provider.
    ///
    /// The keys that sign its tokens are made before, if there are none. A repeated call continues where an earlier one
    /// was cut off.
    package static func set(_ party: RelyingParty, by actor: Actor, ports: Ports) async throws -> Outcome {
        // check: RelyingPartyTests.refused
        guard party.hasWayWithoutCopying else { return .onlyCopies }
        try await PrepareTokenKeys.prepare([.token, party.idTokenAlgorithm.use], by: actor, ports: ports)
        let outcome: Outcome = try await ports.commit(at: ports.time.now, as: actor) { work in
            guard let client = try work.clients.lock(party.client), !client.isOperator else { return .notFound }
            for name in [party.type] + party.stepUpTypes {
                guard let type = try work.types.lock(name), type.isOpen(to: client.id), type.channel == .devices,
                    type.numberEntry
                else { return .typeNotUsable(name) }
            }
            if let name = party.backchannel?.type {
                let type = try work.types.lock(name)
                let fits = type.map { $0.isOpen(to: client.id) && $0.channel == .devices && !$0.numberEntry } ?? false
                // check: BackchannelTests.types
                guard fits else { return .backchannelTypeNotUsable }
            }
            if let resource = party.resource {
                // check: ResourceTests.taken
                guard try !work.isTaken(resource.identifier, besides: party.client) else { return .resourceTaken }
                let taken = OwnScopes.known(among: resource.scopes)
                // check: ResourceTests.taken
                guard taken.isEmpty else { return .scopeTaken(taken[0]) }
            }
            // A third party's page would decide who stays a user.
            let isAccount = !client.isThirdParty && party.isAccount(at: work.issuer.accountPage)
            // Its link keeps nobody, so it has no users but those of the page.
            // check: AccountTests.alone
            guard !isAccount || party.redirectURIs.count == 1 else { return .accountAmongOthers }
            let wasStrict = try work.relyingParties.lock(party.client).map { $0.profile == .strict }
            try work.relyingParties.put(party, isAccount: isAccount)
            try work.raise(.relyingPartySet(party))
            // What it was given by weaker rules ends; what has not come to tokens is refused when it would, and asked of
            // nobody.
            if party.profile == .strict, wasStrict == false {
                try work.endFamilies(.client(party.client), because: .clientStrict)
            }
            return .set(party)
        }
        if case .set = outcome { try await CancelVainQuestions.cancel(at: party.client, by: actor, ports: ports) }
        return outcome
    }
}

extension UnitOfWork {
    /// Whether the name of an API is the issuer's, or another client's.
    fileprivate func isTaken(_ identifier: ResourceIdentifier, besides client: ClientID) throws -> Bool {
        if "\(identifier)" == "\(issuer)" { return true }
        guard let owner = try relyingParties.owner(of: identifier) else { return false }
        return owner != client
    }
}
