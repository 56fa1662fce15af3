package import CountersignWire

/// The receivers of callbacks and notices, and which of them are gone.
///
/// All methods throw ``StoreError``.
package protocol ReceiverStore {
    /// The URIs at which a client is no longer called back, because the receiver said that it is gone.
    func gone(of client: ClientID) throws -> [CallbackURI]
    func gone() throws -> [ClientID: [CallbackURI]]
    /// The receivers of notices about a user's devices, of all clients that are linked to the user and not disabled.
    func ofNotices(of user: UserID) throws -> [NoticeReceiver]
    /// Counts an answer 410 Gone.
    ///
    /// - Returns: whether the receiver counts as gone now.
    func countGone(_ receiver: CallbackURI, of client: ClientID, at: Timestamp) throws -> Bool
    /// Forgets the 410 answers of a receiver.
    func forgetGone(_ receiver: CallbackURI, of client: ClientID) throws
    func forgetAllGone(of client: ClientID) throws
}
