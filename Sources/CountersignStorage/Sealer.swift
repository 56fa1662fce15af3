package import Crypto
import CountersignCore
package import Encodings
import Foundation

/// The key that wraps the data key, and by it every other secret at rest: 32 bytes that are not in the database.
package struct MasterKey: Sendable {
    private let key: Secret<SymmetricKey>

    /// A key of 32 bytes, or nil.
    package init?(bytes: Secret<[UInt8]>) {
        guard bytes.reveal().count == 32 else { return nil }
        key = Secret(SymmetricKey(data: bytes.reveal()))
    }

    /// A key for one purpose, from which neither the master key nor another purpose's can be told.
    ///
    /// Spec: RFC 5869.
    package func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.reveal(), info: Array("countersign v1 \(purpose)".utf8), outputByteCount: 32)
    }
}

/// Seals what must be shown or sent again: AES-256-GCM under a key made for it, bound to where it stands.
///
/// What is sealed begins with the octet 1, by the key number 0, or with 2 and the key's number in four octets.
package struct Sealer: Sendable {
    /// The number of the key that seals.
    let number: UInt32
    private let keys: [UInt32: Secret<SymmetricKey>]

    init(_ key: SymmetricKey) {
        number = 0
        keys = [0: Secret(key)]
    }

    /// Seals by a ring's current key, and opens by all of them.
    init(_ ring: KeyRing) {
        number = ring.current?.number ?? 0
        keys = Dictionary(
            ring.sealing.map { ($0.number, Secret(SymmetricKey(data: $0.key.reveal()))) }, uniquingKeysWith: { $1 })
    }

    /// What everything begins with that is sealed by the current key.
    package var prefix: [UInt8] { number == 0 ? [1] : [2] + number.bigEndianBytes }

    /// Seals bytes for one place, such as `outbox evt_…`.
    package func seal(_ bytes: [UInt8], for place: String) throws -> [UInt8] {
        guard let key = keys[number],
            let sealed = try? AES.GCM.seal(bytes, using: key.reveal(), authenticating: Array(place.utf8)).combined
        else { throw StoreError.engine("sealing failed") }
        return prefix + sealed
    }

    /// Opens what was sealed for the same place, or throws ``StoreError/corruptRow(_:)``.
    package func open(_ sealed: [UInt8], for place: String) throws -> [UInt8] {
        guard let (number, combined) = Self.parts(of: sealed), let key = keys[number],
            let box = try? AES.GCM.SealedBox(combined: combined),
            let bytes = try? AES.GCM.open(box, using: key.reveal(), authenticating: Array(place.utf8))
        else { throw StoreError.corruptRow("sealed \(place)") }
        return Array(bytes)
    }

    /// The number of the key, and what it sealed.
    private static func parts(of sealed: [UInt8]) -> (UInt32, ArraySlice<UInt8>)? {
        switch sealed.first {
        case 1: (0, sealed.dropFirst())
        case 2 where sealed.count > 5: (UInt32(bigEndianBytes: sealed[1..<5]), sealed.dropFirst(5))
        default: nil
        }
    }
}
