/// Lists the issuer's keys by their use, oldest first.
///
/// This operation is for operators.
package enum ListIssuerKeys {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The keys.
        case keys([IssuerKey])
    }

    /// Lists the keys.
    package static func list(ports: Ports) async throws -> Outcome {
        .keys(try await ports.store.read { try $0.keys.issuerKeys().kept })
    }
}
