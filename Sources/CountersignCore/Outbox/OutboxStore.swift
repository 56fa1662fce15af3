package import CountersignWire

/// The outbox, as rules and operators see it.
///
/// All throw ``StoreError``.
package protocol OutboxStore {
    /// Oldest first.
    func list(_ state: OutboxEntry.State, after id: EventID?, limit: Int) throws -> [OutboxEntry]
    /// Nil for one that has arrived.
    func find(_ id: EventID) throws -> OutboxEntry?
    func enqueue(_ message: OutboxMessage) throws
    /// Makes a message due that has not arrived; nil when its content is gone.
    func requeue(_ message: EventID, at: Timestamp) throws -> OutboxMessage?
    /// Those that nobody else has settled for good.
    func settle(_ settlements: [EventID: Settlement], at: Timestamp) throws -> Set<EventID>
}
