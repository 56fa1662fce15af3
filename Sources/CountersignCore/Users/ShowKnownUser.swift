package import CountersignWire

/// Shows a user with all clients that know them.
///
/// This operation is for operators.
package enum ShowKnownUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user.
        case user(KnownUser)
        /// There is no such user.
        case notFound
    }

    /// Shows a user.
    package static func show(_ reference: UserReference, by client: Client, ports: Ports) async throws -> Outcome {
        let user = try await ports.store.read { stores in
            try stores.named(reference, by: client.id, in: .all).flatMap { try stores.users.find($0) }
        }
        return user.map(Outcome.user) ?? .notFound
    }
}
