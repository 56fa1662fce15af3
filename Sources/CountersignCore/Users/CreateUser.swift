package import CountersignWire
import Encodings

/// Creates a user who is linked only to the client that creates them.
package enum CreateUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user as the client knows them.
        case created(LinkedUser)
        /// Another user of this client has this external id.
        case externalIDTaken
        /// Another user of this client has one of the addresses on its word.
        case addressTaken
    }

    /// Creates a user and links them to the client.
    ///
    /// - Parameters:
    ///   - externalID: the client's own name for the user; nil for none.
    ///   - addresses: what the client says of the user's addresses.
    ///   - caller: the client.
    ///   - idempotency: the key of the request; a repeat with the same key creates no second user. Nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func create(
        externalID: ExternalID?, _ addresses: ClaimedAddresses = ClaimedAddresses(), by caller: ClientCaller,
        idempotency: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let client = caller.client.id
        let user = LinkedUser(id: ports.random.id(at: now), externalID: externalID, createdAt: now)
        return try await ports.commit(at: now, as: caller.actor) { work in
            try work.once(idempotency, externalID) { try work.insertUser(user, addresses, of: client) }
        }
    }
}

extension UnitOfWork {
    /// Makes a user whom only this client knows, unless another of its users has the name or an address.
    func insertUser(
        _ user: LinkedUser, _ addresses: ClaimedAddresses, of client: ClientID
    ) throws -> CreateUser.Outcome {
        // The id is looked up before the user is inserted, because a returned refusal commits the transaction.
        if let externalID = user.externalID, try links.find(.externalID(externalID), of: client) != nil {
            return .externalIDTaken
        }
        guard try !isClaimed(addresses, by: client, besides: nil) else { return .addressTaken }
        try users.insert(user.id, at: now)
        guard try links.put(user.id, to: client, externalID: user.externalID) else {
            throw StoreError.serializationFailure
        }
        try claim(addresses, of: user.id, by: client)
        try raise(.userCreated(user.id))
        return .created(user)
    }
}

/// A repeat of the request gets the user as they were created, even if they were renamed or erased since.
///
/// The external id is not stored with the outcome, because the repeated request contains it.
extension CreateUser.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .created(let user) = self else { return nil }
        return KeptForm(["user": .string("\(user.id)"), "created_at": .string("\(user.createdAt)")])
    }

    init?(kept: KeptForm, of externalID: ExternalID?) {
        guard let id = kept.read("user", { UserID($0) }), let time = kept.read("created_at", { Timestamp($0) }) else {
            return nil
        }
        self = .created(LinkedUser(id: id, externalID: externalID, createdAt: time))
    }
}
