package import CountersignWire

/// The tickets by which devices are enrolled.
///
/// All throw ``StoreError``.
package protocol TicketStore {
    func find(_ hash: SecretHash) throws -> Ticket?
    func insert(_ ticket: Ticket) throws
    /// False when the ticket was spent before.
    func spend(_ ticket: SecretHash, at: Timestamp) throws -> Bool
}
