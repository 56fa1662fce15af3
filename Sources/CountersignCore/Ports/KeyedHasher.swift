public import Crypto
import CountersignWire
public import Encodings

/// The hash of a secret of at least 112 bits: looked up by value, never turned back.
public struct SecretHash: Hashable, Sendable {
    /// SHA-256.
    public let bytes: [UInt8]

    /// The hash of a secret.
    public init(of secret: Secret<String>) {
        bytes = Array(SHA256.hash(data: Array(secret.reveal().utf8)))
    }

    /// A hash that was stored.
    public init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether this is the hash of a secret, in constant time.
    public func matches(_ secret: Secret<String>) -> Bool {
        constantTimeEqual(bytes, SecretHash(of: secret).bytes)
    }
}

/// Hashes secrets that have so little to guess that a copied database would give them away: under a key that is not in
/// the database.
public struct KeyedHasher: Sendable {
    private let key: Secret<SymmetricKey>

    /// A hasher with a key derived from the master key for nothing else.
    public init(key: SymmetricKey) {
        self.key = Secret(key)
    }

    /// The hash of the number of a challenge.
    func hash(of number: EntryNumber, challenge: ChallengeID) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("number \(challenge) \(number.digits)".utf8), using: key.reveal()))
    }

    /// What stands for an address where it must not be read.
    func name(of address: PersonalAddress) -> String {
        let text =
            switch address {
            case .email(let address): "email \(address)"
            case .phone(let number): "phone \(number)"
            }
        return Hex.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key.reveal())))
    }

    /// Whether a hash is that of a number, in constant time.
    func matches(_ hash: [UInt8], number: EntryNumber, challenge: ChallengeID) -> Bool {
        constantTimeEqual(hash, self.hash(of: number, challenge: challenge))
    }
}
