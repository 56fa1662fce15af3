package import CountersignWire
import Encodings

/// Says whether the scripts of a page may read what a client gets.
package enum AllowOrigin {
    /// Whether they may.
    ///
    /// - Parameters:
    ///   - origin: the origin of the page, as the browser names it.
    ///   - client: the client; nil for whether the origin is that of any client that is enabled.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func isAllowed(_ origin: String, for client: ClientID?, ports: Ports) async throws -> Bool {
        try await ports.store.read { reader in
            guard let client else { return try reader.relyingParties.isOrigin(origin) }
            return try reader.relyingParties.find(client)?.origins.contains { $0.hasSameBytes(as: origin) } ?? false
        }
    }
}
