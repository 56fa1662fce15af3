package import CountersignWire

/// Changes a relying party.
///
/// For operators.
package enum UpdateClient {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The client as it is now.
        case updated(Client)
        /// There is none of this id that can be changed.
        case notFound
    }

    /// Changes a client.
    package static func update(
        _ id: ClientID, _ changes: ClientChanges, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            try work.clients.update(id, changes)
            if changes.setsReceivers { try work.receivers.forgetAllGone(of: id) }
            try work.raise(.clientUpdated(id, changes))
            guard let updated = try work.clients.find(id) else { throw StoreError.corruptRow("client") }
            return .updated(updated)
        }
    }
}
