package import CountersignWire

/// Gives the pages of a client their own look again.
///
/// This operation is for operators.
package enum RemoveLook {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client has no look, perhaps since before.
        case removed
        /// There is no client with this id, or it signs nobody in.
        case notFound
    }

    /// Removes the look of a client.
    package static func remove(of client: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        try await ports.commit(at: ports.time.now, as: actor) { work in
            // check: LookTests.refused
            guard try work.clients.lock(client) != nil, try work.relyingParties.lock(client) != nil else {
                return .notFound
            }
            if try work.looks.removeLook(of: client) { try work.raise(.lookRemoved(client)) }
            return .removed
        }
    }
}
