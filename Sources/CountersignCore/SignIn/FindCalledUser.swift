package import CountersignWire

/// Finds a user as apps name them that were written for Cotter.
package enum FindCalledUser {
    /// The user; nil for nobody.
    ///
    /// - Parameters:
    ///   - text: our id, an address, or the client's own name.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(_ text: String, at client: ClientID, ports: Ports) async throws -> UserID? {
        try await ports.store.read { try $0.person(called: text, at: client, ports.hasher) }
    }
}
