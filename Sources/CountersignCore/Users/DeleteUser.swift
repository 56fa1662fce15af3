package import CountersignWire

/// Deletes a user, whichever clients are linked to them.
///
/// This operation is for operators.
package enum DeleteUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user is deleted, and their personal data are erased.
        case deleted
        /// There is no such user, or the user was deleted before.
        case notFound
    }

    /// Unlinks a user from all clients, which deletes the user.
    ///
    /// - Parameters:
    ///   - reference: the user, as ``Stores/named(_:by:in:)`` finds them for an operator.
    ///   - caller: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func delete(
        _ reference: UserReference, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let admin = caller.client.id
        let deleted: UserID? = try await ports.commit(at: now, as: caller.actor) { work in
            guard let id = try work.stores.named(reference, by: admin, in: .all) else { return nil }
            try work.users.lock(id)
            guard let user = try work.users.find(id), user.deletedAt == nil else { return nil }
            // Whoever proves an address at a third party has no link before they allow it something.
            guard !user.links.isEmpty else {
                try work.deleteIfUnknown(id, asked: admin)
                return id
            }
            for link in user.links where try work.links.find(.id(id), of: link.client) != nil {
                try work.letGo(id, by: link.client, asked: admin)
            }
            return id
        }
        guard let deleted else { return .notFound }
        try await EraseUser.sweep(of: deleted, ports: ports)
        return .deleted
    }
}
