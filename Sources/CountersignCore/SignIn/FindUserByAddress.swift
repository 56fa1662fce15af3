package import CountersignWire

/// Finds a user of a client by an address.
package enum FindUserByAddress {
    /// The user; nil for nobody.
    ///
    /// A third party finds whom it has itself said to have the address, whoever has proved it.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(_ address: PersonalAddress, of client: Client, ports: Ports) async throws -> UserID? {
        try await ports.store.read { reader in
            // Who has proved it and is no user of the client is as unknown as nobody.
            try reader.person(having: address, at: client.id, ports.hasher)
                ?? reader.identifiers.claim(ports.hasher.identifier(address), by: client.id)?.user
        }
    }
}
