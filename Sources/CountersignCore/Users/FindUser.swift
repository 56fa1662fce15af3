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
    package static func find(
        _ reference: UserReference, by client: Client, in scope: ListScope, ports: Ports
    ) async throws -> Outcome {
        try await ports.store.read { try $0.named(reference, by: client.id, in: scope) }.map(Outcome.user) ?? .notFound
    }
}

extension Stores {
    /// The user whom a caller means: among those of a client where that is all it looks at; an operator means anybody by
    /// an id, and by a name only whom they have made themselves, since names are clients' own.
    package func named(_ reference: UserReference, by caller: ClientID, in scope: ListScope) throws -> UserID? {
        switch (scope, reference) {
        case (.client(let client), _): try links.find(reference, of: client)?.id
        case (.all, .id(let id)): try users.find(id)?.id
        case (.all, .externalID): try links.find(reference, of: caller)?.id
        }
    }
}
