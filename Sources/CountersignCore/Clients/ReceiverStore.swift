package import CountersignWire

/// The receivers of callbacks and notices: where they are, and which of them said that they are gone.
///
/// All throw ``StoreError``.
package protocol ReceiverStore {
    /// Where a client is not called back any more, because it said that it is gone.
    func gone(of client: ClientID) throws -> [CallbackURI]
    func gone() throws -> [ClientID: [CallbackURI]]
    /// Where the clients that are linked to a user want to hear of its devices.
    func ofNotices(of user: UserID) throws -> [NoticeReceiver]
    /// Counts an answer of 410.
    ///
    /// - Returns: whether the receiver is gone.
    func countGone(_ receiver: CallbackURI, of client: ClientID, at: Timestamp) throws -> Bool
    /// Nothing is held against a receiver any more.
    func forgetGone(_ receiver: CallbackURI, of client: ClientID) throws
    func forgetAllGone(of client: ClientID) throws
}
