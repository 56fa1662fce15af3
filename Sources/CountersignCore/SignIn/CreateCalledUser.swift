package import CountersignWire

/// Creates a user as apps do that were written for Cotter.
package enum CreateCalledUser {
    /// Creates a user, unless the client finds somebody by the name already: it would take their calls from them.
    ///
    /// - Parameters:
    ///   - externalID: the client's own name for the user, which may have the form of an id or of an address; nil for
    ///     none.
    ///   - addresses: what the client says of the user's addresses.
    ///   - caller: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func create(
        externalID: ExternalID?, _ addresses: ClaimedAddresses, by caller: ClientCaller, ports: Ports
    ) async throws -> CreateUser.Outcome {
        let now = ports.time.now
        let client = caller.client.id
        let user = LinkedUser(id: ports.random.id(at: now), externalID: externalID, createdAt: now)
        return try await ports.commit(at: now, as: caller.actor) { work in
            if let externalID {
                let found = try work.stores.calledUser(externalID.text, at: client, work.hasher)
                // check: CotterRecordTests.chosenNames
                guard found == nil else { return .externalIDTaken }
            }
            return try work.insertUser(user, addresses, of: client)
        }
    }
}
