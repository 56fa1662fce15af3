package import CountersignWire

/// Finds a user as apps name them that were written for Cotter.
package enum FindCalledUser {
    /// The user; nil for nobody.
    ///
    /// By an address it is whom ``FindUserByAddress`` finds or, if that is nobody, whom the client has given it as a name.
    ///
    /// - Parameters:
    ///   - text: our id, an address, or the client's own name.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(_ text: String, of client: Client, ports: Ports) async throws -> UserID? {
        if let address = PersonalAddress(typed: text),
            let user = try await FindUserByAddress.find(address, of: client, ports: ports)
        {
            return user
        }
        return try await ports.store.read { try $0.person(called: text, at: client.id, ports.hasher) }
    }
}
