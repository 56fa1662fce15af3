public import Crypto
import CountersignCore
public import Encodings
import Foundation

/// The key that wraps the data key, and by it every other secret at rest: 32 bytes that are not in the database.
public struct MasterKey: Sendable {
    private let key: Secret<SymmetricKey>

    /// A key of 32 bytes, or nil.
    public init?(bytes: Secret<[UInt8]>) {
        guard bytes.reveal().count == 32 else { return nil }
        key = Secret(SymmetricKey(data: bytes.reveal()))
    }

    /// A key for one purpose, from which neither the master key nor another purpose's can be told.
    ///
    /// Spec: RFC 5869.
    public func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.reveal(), info: Array("countersign v1 \(purpose)".utf8), outputByteCount: 32)
    }
}

/// Seals what must be shown or sent again: AES-256-GCM under a key made for it, bound to where it stands.
struct Sealer: Sendable {
    private static let version: UInt8 = 1
    private let key: Secret<SymmetricKey>

    init(_ key: SymmetricKey) {
        self.key = Secret(key)
    }

    /// Seals bytes for one place, such as `outbox evt_…`.
    func seal(_ bytes: [UInt8], for place: String) throws -> [UInt8] {
        guard
            let sealed = try? AES.GCM.seal(bytes, using: key.reveal(), authenticating: Array(place.utf8)).combined
        else { throw StoreError.engine("sealing failed") }
        return [Self.version] + sealed
    }

    /// Opens what was sealed for the same place, or throws ``StoreError/corruptRow(_:)``.
    func open(_ sealed: [UInt8], for place: String) throws -> [UInt8] {
        guard sealed.first == Self.version, let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst()),
            let bytes = try? AES.GCM.open(box, using: key.reveal(), authenticating: Array(place.utf8))
        else { throw StoreError.corruptRow("sealed \(place)") }
        return Array(bytes)
    }
}
