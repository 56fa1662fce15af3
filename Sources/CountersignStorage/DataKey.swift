package import Crypto
import CountersignCore
import Encodings

/// A database's own 32-byte random key, created with the database and stored in it, wrapped by the master key.
///
/// Hashing keys are derived from it, and so is the sealing key until the first rotation of the master key. It never
/// changes.
package struct DataKey: Sendable {
    private let key: Secret<SymmetricKey>

    init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = Secret(SymmetricKey(data: bytes))
    }

    static func make() -> DataKey { DataKey(key: Secret(SymmetricKey(size: .bits256))) }

    private init(key: Secret<SymmetricKey>) {
        self.key = key
    }

    /// The raw key, to be wrapped.
    var bytes: [UInt8] { key.reveal().withUnsafeBytes { Array($0) } }

    /// Derives a key for one purpose; it reveals neither this key nor the keys of other purposes.
    ///
    /// Spec: RFC 5869.
    package func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.reveal(), info: Array("countersign v1 \(purpose)".utf8), outputByteCount: 32)
    }
}
