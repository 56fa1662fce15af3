/// Lists the issuer's keys, by their use, oldest first.
///
/// For operators.
public enum ListIssuerKeys {
    /// What came of it.
    public enum Outcome: Sendable {
        /// The keys.
        case keys([IssuerKey])
    }

    /// Lists the keys.
    public static func list(ports: Ports) async throws -> Outcome {
        .keys(try await ports.store.read { try $0.keys.issuerKeys().kept })
    }
}
