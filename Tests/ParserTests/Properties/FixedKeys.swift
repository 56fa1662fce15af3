import Crypto
import Encodings

@testable import OpenPGP

/// The keys that the inputs of the corpus were made with: SHA-256 of `countersign fuzzing key: <name>`.
///
/// They are of no use but this.
enum FixedKeys {
    /// When they were made, and when everything in the corpus was signed.
    static let time: UnixSeconds = 1_795_000_000
    /// A present after all of it.
    static let now: UnixSeconds = time + 86400

    static let primary = SigningKeyPair(signing("primary"), createdAt: time)
    static let authentication = SigningKeyPair(signing("authentication"), createdAt: time)
    static let encryption = DecryptionKeyPair(agreement("encryption"), createdAt: time)
    /// Signs JSON.
    static let json = signing("json")
    /// Signs HTTP requests.
    static let http = signing("http")

    static func signing(_ name: String) -> P256.Signing.PrivateKey {
        // Each name was tried once: its hash is in range.
        // swift-format-ignore
        try! P256.Signing.PrivateKey(rawRepresentation: scalar(name))
    }

    static func agreement(_ name: String) -> P256.KeyAgreement.PrivateKey {
        // swift-format-ignore
        try! P256.KeyAgreement.PrivateKey(rawRepresentation: scalar(name))
    }

    private static func scalar(_ name: String) -> [UInt8] {
        Array(SHA256.hash(data: Array("countersign fuzzing key: \(name)".utf8)))
    }
}
