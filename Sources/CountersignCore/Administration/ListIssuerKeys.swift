/// Lists the issuer's keys, by their use, oldest first.
///
/// For operators.
package enum ListIssuerKeys {
    /// What came of it.
    package enum Outcome: Sendable {
        /// The keys.
        case keys([IssuerKey])
    }

    /// Lists the keys.
    package static func list(ports: Ports) async throws -> Outcome {
        .keys(try await ports.store.read { try $0.keys.issuerKeys().kept })
    }
}
