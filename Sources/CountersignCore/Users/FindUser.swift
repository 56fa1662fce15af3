package import CountersignWire

/// Finds the user that a caller's reference names.
package enum FindUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user.
        case user(UserID)
        /// The caller may see no such user.
        case notFound
    }

    /// Finds a user.
    ///
    /// - Parameters:
    ///   - reference: the user's id, or the external id.
    ///   - client: the client that asks.
    ///   - scope: the users that the client may see.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(
        _ reference: UserReference, by client: Client, in scope: ListScope, ports: Ports
    ) async throws -> Outcome {
        try await ports.store.read { try $0.named(reference, by: client.id, in: scope) }.map(Outcome.user) ?? .notFound
    }
}

extension Stores {
    /// The user that a reference names; nil if there is none in the scope.
    ///
    /// For a client, these are its own users. An operator finds every user by id, but by external id only the users
    /// of the operator's own client, because each client has its own external ids.
    package func named(_ reference: UserReference, by caller: ClientID, in scope: ListScope) throws -> UserID? {
        switch (scope, reference) {
        case (.client(let client), _): try links.find(reference, of: client)?.id
        case (.all, .id(let id)): try users.find(id)?.id
        case (.all, .externalID): try links.find(reference, of: caller)?.id
        }
    }
}
