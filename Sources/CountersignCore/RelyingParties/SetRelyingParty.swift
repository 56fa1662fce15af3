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
        /// There is no challenge type of this name, or the client may not ask by it, or it has no number to type.
        case typeNotUsable
    }

    /// Sets how a client uses the provider.
    ///
    /// The keys that sign its tokens are made before, if there are none.
    package static func set(_ party: RelyingParty, by actor: Actor, ports: Ports) async throws -> Outcome {
        try await PrepareTokenKeys.prepare([.es256, party.profile.idTokenAlgorithm], by: actor, ports: ports)
        return try await ports.commit(at: ports.time.now, as: actor) { work in
            guard let client = try work.clients.lock(party.client), !client.isOperator else { return .notFound }
            guard let type = try work.types.find(party.type), type.isOpen(to: client.id), type.channel == .devices,
                type.numberEntry
            else { return .typeNotUsable }
            // A third party's page would decide who stays a user.
            let isAccount = !client.isThirdParty && party.isAccount(at: work.issuer.accountPage)
            try work.relyingParties.put(party, isAccount: isAccount)
            try work.raise(.relyingPartySet(party))
            return .set(party)
        }
    }
}
