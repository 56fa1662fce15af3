/// Checks whether the server can work.
package enum CheckReadiness {
    /// Whether the database can be read and was prepared by a first start.
    ///
    /// - Throws: ``StoreError``.
    package static func isReady(ports: Ports) async throws -> Bool {
        try await ports.store.read { try $0.clients.operatorClient() } != nil
    }
}
