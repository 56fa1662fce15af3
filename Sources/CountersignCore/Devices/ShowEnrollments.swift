package import CountersignWire

/// Shows the enrollments of a user, including removed ones, to a client that is linked to the user and believes them.
package enum ShowEnrollments {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollments.
        case enrollments([Enrollment])
        /// The client is not linked to such a user.
        case userNotFound
    }

    /// Shows the enrollments of a user.
    ///
    /// - Parameters:
    ///   - reference: the user, by id or by the client's external id.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(of reference: UserReference, to client: Client, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return .userNotFound }
            return .enrollments(
                try reader.enrollments.all(of: user.id).filter { $0.isBelieved(in: client.trustGroup) })
        }
    }
}
