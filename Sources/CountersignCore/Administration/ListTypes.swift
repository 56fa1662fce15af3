package import CountersignWire

/// Lists challenge types.
package enum ListTypes {
    /// The result of the operation.
    package typealias Outcome = ListOutcome<ChallengeType>

    /// Lists challenge types by name.
    ///
    /// - Parameters:
    ///   - scope: a client, to list the types that it may ask by; or all types.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(in scope: ListScope, cursor: String?, ports: Ports) async throws -> Outcome {
        let listing = Listing("types", scope, filters: [:], cursor: cursor, ports)
        return try await listing.read(after: { TypeName($0) }) { place, reader in
            let types = try reader.types.all().filter { type in
                if case .client(let client) = scope, !type.isOpen(to: client) { return false }
                return place.map { "\($0)" < "\(type.name)" } ?? true
            }
            return listing.page(of: Array(types.prefix(listing.limit)), place: { "\($0.name)" }) { $0 }
        }
    }
}
