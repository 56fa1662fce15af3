package import CountersignWire

/// Shows a user's enrollments, removed ones too, to a client that is linked to the user.
package enum ShowEnrollments {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The enrollments.
        case enrollments([Enrollment])
        /// The client is linked to no such user.
        case userNotFound
    }

    /// Shows the enrollments.
    package static func show(of reference: UserReference, to client: Client, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return .userNotFound }
            return .enrollments(try reader.enrollments.all(of: user.id))
        }
    }
}
