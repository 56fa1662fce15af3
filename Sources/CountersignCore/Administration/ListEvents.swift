/// Shows the audit to operators.
package enum ListEvents {
    /// A part of the audit.
    package struct Page: Sendable {
        /// The events, oldest first.
        package let events: [AuditEvent]
        /// Where the next part begins.
        package let cursor: Int64
    }

    /// The events that meet a filter after a place, oldest first.
    package static func list(_ filter: AuditFilter, after place: Int64, limit: Int, ports: Ports) async throws -> Page {
        // Beyond it an event may still come that was written before those that are there.
        let end = try await ports.store.auditEnd()
        let found = try await ports.store.read { try $0.audit.list(filter, after: place, limit: limit) }
            .prefix { $0.place <= end }
        return Page(events: found.map(\.event), cursor: found.last?.place ?? place)
    }
}
