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
        try await ports.store.read { try $0.calledUser(text, at: client.id, ports.hasher) }
    }
}

extension Stores {
    /// The user whom an app names that was written for Cotter, or whom the client itself has said to have the address;
    /// nil for nobody.
    func calledUser(_ text: String, at client: ClientID, _ hasher: KeyedHasher) throws -> UserID? {
        try person(called: text, at: client, hasher)
            ?? PersonalAddress(typed: text).flatMap { address in
                try identifiers.claim(hasher.identifier(address), by: client)?.user
            }
    }
}
