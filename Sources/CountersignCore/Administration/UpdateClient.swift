package import CountersignWire

/// Changes the settings of a client.
///
/// This operation is for operators.
package enum UpdateClient {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client with its new settings.
        case updated(Client)
        /// There is no client with this id, or it is the operator's built-in client.
        case notFound
    }

    /// Changes a client; the keys that a vendor's devices verify are made before, if there are none.
    package static func update(
        _ id: ClientID, _ changes: ClientChanges, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        if let vendors = changes.vendors { try await vendors.prepareKeys(by: actor, ports: ports) }
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

extension Set<Vendor> {
    /// Makes the keys that sign what these vendors' devices verify, if there are none: Okta's verify RSA alone.
    ///
    /// - Throws: ``StoreError``, or an error of making a key.
    func prepareKeys(by actor: Actor, ports: Ports) async throws {
        guard contains(.okta) else { return }
        try await PrepareTokenKeys.prepare([.rs256], by: actor, ports: ports)
    }
}
