package import CountersignWire

/// Lists users for operators, oldest first.
package enum ListKnownUsers {
    /// The result of the operation.
    package typealias Outcome = ListOutcome<KnownUser>

    /// Lists the users that a client knows.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(of client: ClientID, cursor: String?, ports: Ports) async throws -> Outcome {
        let listing = Listing("known users", .client(client), filters: [:], cursor: cursor, ports)
        return try await listing.read(after: { UserID($0) }) { place, reader in
            let users = try reader.lists.users(of: client, after: place, limit: listing.limit)
            return try listing.page(of: users, place: { "\($0.id)" }) { try reader.users.find($0.id) }
        }
    }

    /// Lists all users.
    ///
    /// - Parameters:
    ///   - isDeleted: true to list only deleted users, false to list only the others; nil for both.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func all(deleted isDeleted: Bool?, cursor: String?, ports: Ports) async throws -> Outcome {
        let listing = Listing("users", .all, filters: ["deleted": isDeleted], cursor: cursor, ports)
        return try await listing.read(after: { UserID($0) }) { place, reader in
            let users = try reader.lists.users(after: place, limit: listing.limit)
            return try listing.page(of: users, place: { "\($0)" }) { id in
                guard let user = try reader.users.find(id) else { return nil }
                return isDeleted == nil || (user.deletedAt != nil) == isDeleted ? user : nil
            }
        }
    }
}
