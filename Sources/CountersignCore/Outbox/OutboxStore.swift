package import CountersignWire

/// The outbox, as operations use it.
///
/// All methods throw ``StoreError``.
package protocol OutboxStore {
    /// Messages in a state, oldest first.
    func list(_ state: OutboxEntry.State, after id: EventID?, limit: Int) throws -> [OutboxEntry]
    /// The message with this id; nil if there is none or it was delivered.
    func find(_ id: EventID) throws -> OutboxEntry?
    /// Queues a message, and wakes whoever delivers its kind when the transaction commits.
    func enqueue(_ message: OutboxMessage) throws
    /// Makes an undelivered message due now; nil if its content is erased.
    func requeue(_ message: EventID, at: Timestamp) throws -> OutboxMessage?
    /// Records the states of messages, and returns the ids of those that nobody else had settled before.
    func settle(_ settlements: [EventID: Settlement], at: Timestamp) throws -> Set<EventID>
}
