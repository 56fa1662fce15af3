/// Finds out whether a server can work.
package enum CheckReadiness {
    /// Whether what was written can be read.
    ///
    /// - Throws: ``StoreError``.
    package static func isReady(ports: Ports) async throws -> Bool {
        try await ports.store.read { try $0.clients.operatorClient() } != nil
    }
}
