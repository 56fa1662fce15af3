package import CountersignWire

/// Shows a user to a client that is linked to them.
package enum ShowUser {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user as the client knows them, with what the client says of their addresses and of them.
        case user(LinkedUser, UserAddresses, UserClaims?)
        /// The client is linked to no such user.
        case notFound
    }

    /// Shows a user.
    package static func show(_ reference: UserReference, to client: Client, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return .notFound }
            let addresses = try reader.claimedAddresses(
                of: user.id, by: client.id, isThirdParty: client.isThirdParty, ports.hasher)
            return .user(user, addresses, try reader.links.claims(of: user.id, for: client.id))
        }
    }
}
