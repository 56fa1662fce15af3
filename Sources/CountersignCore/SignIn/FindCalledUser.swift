package import CountersignWire

/// Finds a user as apps name them that were written for Cotter.
package enum FindCalledUser {
    /// The user; nil for nobody.
    ///
    /// By an address that is nobody's name it is whom ``FindUserByAddress`` finds.
    ///
    /// - Parameters:
    ///   - text: the client's own name, our id, or an address.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(_ text: String, of client: Client, ports: Ports) async throws -> UserID? {
        try await ports.store.read { reader in
            try reader.person(called: text, at: client.id, ports.hasher)
                ?? PersonalAddress(typed: text).flatMap { address in
                    try reader.identifiers.claim(ports.hasher.identifier(address), by: client.id)?.user
                }
        }
    }
}
