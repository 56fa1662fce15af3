/// Lists the events of the audit, oldest first.
///
/// This operation is for operators.
package enum ListEvents {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// A page of events; `cursor` is the sequence number after which the next page begins.
        case events([AuditEvent], cursor: Int64)
    }

    /// Lists the events that match a filter.
    ///
    /// - Parameters:
    ///   - filter: which events to list.
    ///   - sequence: the sequence number after which the page begins; 0 for the first page.
    ///   - limit: the maximum number of events.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(
        _ filter: AuditFilter, after sequence: Int64, limit: Int, ports: Ports
    ) async throws -> Outcome {
        // Beyond this end, a transaction that is still open may add an event with a smaller sequence number, which a
        // page that went further would skip.
        let end = try await ports.store.auditEnd()
        let found = try await ports.store.read { try $0.audit.list(filter, after: sequence, limit: limit) }
            .prefix { $0.sequence <= end }
        return .events(found.map(\.event), cursor: found.last?.sequence ?? sequence)
    }
}
