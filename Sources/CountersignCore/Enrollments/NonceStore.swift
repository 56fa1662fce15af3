package import CountersignWire

/// The nonces that were spent.
///
/// All functions throw ``StoreError``.
package protocol NonceStore {
    func isSpent(nonce: String, of keyID: String) throws -> Bool
    /// Spends a nonce.
    ///
    /// - Parameters:
    ///   - nonce: the nonce.
    ///   - keyID: the scope in which the nonce is unique.
    ///   - until: until when it is remembered that the nonce was spent.
    /// - Returns: false if the nonce was spent before.
    func spend(nonce: String, of keyID: String, until: Timestamp) throws -> Bool
}
