package import CountersignWire

/// Reads the audit.
///
/// All methods throw ``StoreError``.
package protocol AuditStore {
    /// The events that meet a filter, oldest first, each with its sequence number, in which they are written; no more
    /// events can appear up to ``Store/auditEnd()``.
    func list(
        _ filter: AuditFilter, after sequence: Int64, limit: Int
    ) throws -> [(sequence: Int64, event: AuditEvent)]
    /// The latest events of a user that are of some kinds and were written before a sequence number, newest first.
    func latest(
        of user: UserID, _ kinds: [AuditEventKind], before sequence: Int64, limit: Int
    ) throws -> [(sequence: Int64, event: AuditEvent)]
    func append(_ event: AuditEvent) throws
}

extension AuditStore {
    /// All events, oldest first, each with its sequence number, in which they are written.
    package func list(after sequence: Int64, limit: Int) throws -> [(sequence: Int64, event: AuditEvent)] {
        try list(AuditFilter(), after: sequence, limit: limit)
    }
}
