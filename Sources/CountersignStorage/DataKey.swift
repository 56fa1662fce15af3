package import Crypto
import CountersignCore
import Encodings

/// The key that seals every secret in a database: 32 random bytes, made with the database and kept in it, wrapped by the
/// master key.
///
/// So another master key takes the place of one by a row of 60 bytes, and nothing that was sealed is touched.
package struct DataKey: Sendable {
    private let key: Secret<SymmetricKey>

    init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = Secret(SymmetricKey(data: bytes))
    }

    /// A new key.
    static func make() -> DataKey { DataKey(key: Secret(SymmetricKey(size: .bits256))) }

    private init(key: Secret<SymmetricKey>) {
        self.key = key
    }

    /// The key itself, to be wrapped.
    var bytes: [UInt8] { key.reveal().withUnsafeBytes { Array($0) } }

    /// A key for one purpose, from which neither this one nor another purpose's can be told.
    ///
    /// Spec: RFC 5869.
    package func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.reveal(), info: Array("countersign v1 \(purpose)".utf8), outputByteCount: 32)
    }
}
