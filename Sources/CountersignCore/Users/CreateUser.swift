package import CountersignWire
import Encodings

/// Makes a user, whom only the client that makes them knows.
package enum CreateUser {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The user as the client knows them.
        case created(LinkedUser)
        /// Another user of this client has the external id.
        case externalIDTaken
    }

    /// Makes a user and links them to the client.
    package static func create(
        externalID: ExternalID?, by caller: ClientCaller, idempotency: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let client = caller.client.id
        let user = LinkedUser(id: ports.random.id(at: now), externalID: externalID, createdAt: now)
        return try await ports.commit(at: now, as: caller.actor) { work in
            try work.once(idempotency, externalID) {
                // Looked up first: a failed insert would end the transaction on some engines.
                if let externalID, try work.links.find(.externalID(externalID), of: client) != nil {
                    return .externalIDTaken
                }
                try work.users.insert(user.id, at: now)
                guard try work.links.put(user.id, to: client, externalID: externalID) else {
                    throw StoreError.serializationFailure
                }
                try work.raise(.userCreated(user.id))
                return .created(user)
            }
        }
    }
}

/// A repeat gets the user as they were made, also when they were renamed or erased since: what was their name, the
/// repeat itself says.
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
