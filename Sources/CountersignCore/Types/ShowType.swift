package import CountersignWire

/// Shows a challenge type to a client that may ask by it.
package enum ShowType {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The type.
        case type(ChallengeType)
        /// There is no such type, or it is not open to the client.
        case notFound
    }

    /// Shows a type.
    ///
    /// - Parameters:
    ///   - name: the type's name.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(_ name: TypeName, to client: ClientID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let type = try reader.types.find(name), type.isOpen(to: client) else { return .notFound }
            return .type(type)
        }
    }
}
