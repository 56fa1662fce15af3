/// Reads the audit.
///
/// All methods throw ``StoreError``.
package protocol AuditStore {
    /// The events that meet a filter, oldest first, each with its place in the order of writing; no more events can
    /// appear up to ``Store/auditEnd()``.
    func list(
        _ filter: AuditFilter, after place: Int64, limit: Int
    ) throws -> [(place: Int64, event: AuditEvent)]
    func append(_ event: AuditEvent) throws
}

extension AuditStore {
    /// All events, oldest first, each with its place in the order of writing.
    package func list(after place: Int64, limit: Int) throws -> [(place: Int64, event: AuditEvent)] {
        try list(AuditFilter(), after: place, limit: limit)
    }
}
