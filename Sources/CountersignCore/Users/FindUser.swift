package import CountersignWire

/// Finds the user that a caller means.
package enum FindUser {
    /// The id of a user as far as the caller may see them, or nil.
    package static func id(
        _ reference: UserReference, by client: Client, in scope: ListScope, ports: Ports
    ) async throws -> UserID? {
        try await ports.store.read { try $0.named(reference, by: client.id, in: scope) }
    }

    /// A user as operators see them, or nil.
    package static func known(_ reference: UserReference, by client: Client, ports: Ports) async throws -> KnownUser? {
        try await ports.store.read { stores in
            try stores.named(reference, by: client.id, in: .all).flatMap { try stores.users.find($0) }
        }
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
