package import CountersignWire

/// Unlinks a user from a client.
///
/// What the client has asked the user, and is open, is cancelled. A user nobody is linked to any more is deleted and
/// their devices removed. What was personal of what the client asked them is erased when this returns.
package enum UnlinkUser {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The user is unlinked.
        case unlinked
        /// The client is linked to no such user.
        case notFound
    }

    /// Unlinks a user.
    package static func unlink(
        _ reference: UserReference, from caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let client = caller.client.id
        let outcome: Outcome = try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client) else { return .notFound }
            try work.letGo(user.id, by: client, asked: client)
            return .unlinked
        }
        if outcome == .unlinked { try await EraseUser.sweep(ports: ports) }
        return outcome
    }
}
