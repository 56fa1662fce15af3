package import CountersignWire

/// The nonces that were spent.
///
/// All throw ``StoreError``.
package protocol NonceStore {
    func isSpent(nonce: String, of keyID: String) throws -> Bool
    /// False when the nonce was spent before.
    func spend(nonce: String, of keyID: String, until: Timestamp) throws -> Bool
}
