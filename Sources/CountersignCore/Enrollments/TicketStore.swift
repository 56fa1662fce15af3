package import CountersignWire

/// The tickets with which devices enroll.
///
/// All functions throw ``StoreError``.
package protocol TicketStore {
    func find(_ hash: SecretHash) throws -> Ticket?
    func insert(_ ticket: Ticket) throws
    /// Spends a ticket.
    ///
    /// - Returns: false if the ticket was spent before.
    func spend(_ ticket: SecretHash, at: Timestamp) throws -> Bool
    /// Deletes the tickets that a client has asked for and that are not spent.
    func deleteTickets(of client: ClientID) throws
}
