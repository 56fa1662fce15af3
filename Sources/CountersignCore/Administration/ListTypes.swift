import CountersignWire

/// Lists challenge types.
package enum ListTypes {
    /// A page of types, by name: those that a client may ask by, or all.
    ///
    /// - Throws: ``CursorRefused``, ``StoreError``.
    package static func page(in scope: ListScope, cursor: String?, ports: Ports) async throws -> Page<ChallengeType> {
        let listing = Listing("types", scope, filters: [:], cursor: cursor, ports.hasher)
        let place = try listing.place { TypeName($0) }
        let types = try await ports.store.read { try $0.types.all() }.filter { type in
            if case .client(let client) = scope, !type.isOpen(to: client) { return false }
            return place.map { "\($0)" < "\(type.name)" } ?? true
        }
        return listing.page(of: Array(types.prefix(listing.limit)), place: { "\($0.name)" }) { $0 }
    }
}
