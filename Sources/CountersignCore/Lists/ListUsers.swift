package import CountersignWire

/// Lists the users that a client knows, oldest first.
package enum ListUsers {
    /// The result of the operation.
    package typealias Outcome = ListOutcome<LinkedUser>

    /// Lists the users.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - isBlocked: true to list only users whom the client blocks from enrolling devices, false to list only the
    ///     others; nil for both.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(
        of client: ClientID, blocked isBlocked: Bool?, cursor: String?, ports: Ports
    ) async throws -> Outcome {
        let listing = Listing("users", .client(client), filters: ["blocked": isBlocked], cursor: cursor, ports)
        return try await listing.read(after: { UserID($0) }) { place, reader in
            let users = try reader.lists.users(of: client, after: place, limit: listing.limit)
            return listing.page(of: users, place: { "\($0.id)" }) { user in
                isBlocked == nil || user.isEnrollmentBlocked == isBlocked ? user : nil
            }
        }
    }
}
