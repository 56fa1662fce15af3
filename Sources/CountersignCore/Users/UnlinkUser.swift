package import CountersignWire

/// Unlinks a user from a client.
///
/// The client's open challenges to the user are cancelled. A user without any other client is deleted, and their
/// devices are removed. When the operation returns, the personal data of what the client asked the user are erased.
package enum UnlinkUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user is unlinked.
        case unlinked
        /// The client is linked to no such user.
        case notFound
    }

    /// Unlinks a user from the calling client.
    ///
    /// - Parameters:
    ///   - reference: the user.
    ///   - caller: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func unlink(
        _ reference: UserReference, from caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let client = caller.client.id
        let unlinked: UserID? = try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client) else { return nil }
            try work.letGo(user.id, by: client, asked: client)
            return user.id
        }
        guard let unlinked else { return .notFound }
        try await EraseUser.sweep(of: unlinked, ports: ports)
        return .unlinked
    }
}
