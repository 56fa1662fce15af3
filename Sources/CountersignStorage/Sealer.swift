package import Crypto
import CountersignCore
package import Encodings
import Foundation

/// The 32-byte key that wraps the database's keys, and through them protects every secret at rest.
///
/// It is not in the database.
package struct MasterKey: Sendable {
    private let key: Secret<SymmetricKey>

    /// Creates a master key; nil unless there are 32 bytes.
    package init?(bytes: Secret<[UInt8]>) {
        guard bytes.reveal().count == 32 else { return nil }
        key = Secret(SymmetricKey(data: bytes.reveal()))
    }

    /// Derives a key for one purpose; it reveals neither the master key nor the keys of other purposes.
    ///
    /// Spec: RFC 5869.
    package func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.reveal(), info: Array("countersign v1 \(purpose)".utf8), outputByteCount: 32)
    }
}

/// Encrypts secrets that must be shown or sent again: AES-256-GCM, bound to their place in the database.
///
/// A sealed value begins with the octet 1 when key number 0 sealed it; otherwise with the octet 2 and the key's number
/// in four octets.
package struct Sealer: Sendable {
    /// The number of the key that seals.
    let number: UInt32
    private let keys: [UInt32: Secret<SymmetricKey>]

    init(_ key: SymmetricKey) {
        number = 0
        keys = [0: Secret(key)]
    }

    /// Seals with the current key of a ring, and opens with all keys of the ring.
    init(_ ring: KeyRing) {
        number = ring.current?.number ?? 0
        keys = Dictionary(
            ring.sealing.map { ($0.number, Secret(SymmetricKey(data: $0.key.reveal()))) }, uniquingKeysWith: { $1 })
    }

    /// The first octets of every value that the current key has sealed.
    package var prefix: [UInt8] { number == 0 ? [1] : [2] + number.bigEndianBytes }

    /// Seals bytes for one place in the database, such as `outbox evt_…`, which is the associated data.
    package func seal(_ bytes: [UInt8], for place: String) throws -> [UInt8] {
        guard let key = keys[number],
            let sealed = try? AES.GCM.seal(bytes, using: key.reveal(), authenticating: Array(place.utf8)).combined
        else { throw StoreError.engine("sealing failed") }
        return prefix + sealed
    }

    /// Opens a value that was sealed for the same place.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when it was not, or when its key is unknown.
    package func open(_ sealed: [UInt8], for place: String) throws -> [UInt8] {
        guard let (number, combined) = Self.parts(of: sealed), let key = keys[number],
            let box = try? AES.GCM.SealedBox(combined: combined),
            let bytes = try? AES.GCM.open(box, using: key.reveal(), authenticating: Array(place.utf8))
        else { throw StoreError.corruptRow("sealed \(place)") }
        return Array(bytes)
    }

    /// The number of the key, and the nonce, ciphertext and tag.
    private static func parts(of sealed: [UInt8]) -> (UInt32, ArraySlice<UInt8>)? {
        switch sealed.first {
        case 1: (0, sealed.dropFirst())
        case 2 where sealed.count > 5: (UInt32(bigEndianBytes: sealed[1..<5]), sealed.dropFirst(5))
        default: nil
        }
    }
}
