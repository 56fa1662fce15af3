package import CountersignWire

/// Shows what a client replaces on its pages.
package enum ShowLook {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The look; nil for the pages' own.
        case shown(Look?)
        /// There is no client with this id, or it signs nobody in.
        case notFound
    }

    /// The look of a client, for operators.
    package static func show(_ client: ClientID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            // check: LookTests.refused
            guard try reader.clients.find(client) != nil, try reader.relyingParties.find(client) != nil else {
                return .notFound
            }
            return .shown(try reader.looks.find(client))
        }
    }

    /// The look of a client that a page is shown for; nil for the pages' own.
    package static func look(of client: ClientID, ports: Ports) async throws -> Look? {
        try await ports.store.read { try $0.looks.find(client) }
    }

    /// The bytes of a logo, for whoever knows its name; nil if no client has it.
    package static func logo(_ hash: LogoHash, ports: Ports) async throws -> [UInt8]? {
        try await ports.store.read { try $0.looks.logo(hash) }
    }
}
