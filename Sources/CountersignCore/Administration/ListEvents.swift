/// Lists the events of the audit, oldest first.
///
/// For operators.
package enum ListEvents {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// A page of events, and the sequence number after which the next page begins.
        case events([AuditEvent], cursor: Int64)
    }

    /// Lists the events that meet a filter after a sequence number.
    package static func list(
        _ filter: AuditFilter, after sequence: Int64, limit: Int, ports: Ports
    ) async throws -> Outcome {
        // Beyond it an event may still come that was written before those that are there.
        let end = try await ports.store.auditEnd()
        let found = try await ports.store.read { try $0.audit.list(filter, after: sequence, limit: limit) }
            .prefix { $0.sequence <= end }
        return .events(found.map(\.event), cursor: found.last?.sequence ?? sequence)
    }
}
