package import CountersignWire

/// Lists users, oldest first.
package enum ListUsers {
    /// Those that a client knows.
    ///
    /// - Throws: ``CursorRefused``, ``StoreError``.
    package static func of(
        _ client: ClientID, blocked isBlocked: Bool?, cursor: String?, ports: Ports
    ) async throws -> Page<LinkedUser> {
        let listing = Listing(
            "users", .client(client), filters: ["blocked": isBlocked], cursor: cursor, ports.hasher)
        let place = try listing.place { UserID($0) }
        return try await ports.store.read { reader in
            let users = try reader.lists.users(of: client, after: place, limit: listing.limit)
            return listing.page(of: users, place: { "\($0.id)" }) { user in
                isBlocked == nil || user.isEnrollmentBlocked == isBlocked ? user : nil
            }
        }
    }

    /// Those that a client knows, for operators.
    ///
    /// - Throws: ``CursorRefused``, ``StoreError``.
    package static func known(to client: ClientID, cursor: String?, ports: Ports) async throws -> Page<KnownUser> {
        let listing = Listing("known users", .client(client), filters: [:], cursor: cursor, ports.hasher)
        let place = try listing.place { UserID($0) }
        return try await ports.store.read { reader in
            let users = try reader.lists.users(of: client, after: place, limit: listing.limit)
            return try listing.page(of: users, place: { "\($0.id)" }) { try reader.users.find($0.id) }
        }
    }

    /// Everybody, for operators.
    ///
    /// - Parameters:
    ///   - isDeleted: whether those are meant who are deleted, or those who are there; nil for both.
    ///   - cursor: where the page before ended.
    ///   - ports: the world.
    package static func all(deleted isDeleted: Bool?, cursor: String?, ports: Ports) async throws -> Page<KnownUser> {
        let listing = Listing("users", .all, filters: ["deleted": isDeleted], cursor: cursor, ports.hasher)
        let place = try listing.place { UserID($0) }
        return try await ports.store.read { reader in
            let users = try reader.lists.users(after: place, limit: listing.limit)
            return try listing.page(of: users, place: { "\($0)" }) { id in
                guard let user = try reader.users.find(id) else { return nil }
                return isDeleted == nil || (user.deletedAt != nil) == isDeleted ? user : nil
            }
        }
    }
}
