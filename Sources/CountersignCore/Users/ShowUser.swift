package import CountersignWire

/// Shows a user to a client that is linked to them.
package enum ShowUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user as the client knows them.
        case user(LinkedUser)
        /// The client is linked to no such user.
        case notFound
    }

    /// Shows a user.
    package static func show(_ reference: UserReference, to client: Client, ports: Ports) async throws -> Outcome {
        let user = try await ports.store.read { try $0.links.find(reference, of: client.id) }
        return user.map(Outcome.user) ?? .notFound
    }
}
