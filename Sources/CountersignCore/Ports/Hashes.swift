import Crypto
package import Encodings

/// The hash of a secret of at least 112 bits, by which the secret is looked up; nobody can reverse it.
package struct SecretHash: Hashable, Sendable {
    /// SHA-256.
    package let bytes: [UInt8]

    /// The hash of a secret.
    package init(of secret: Secret<String>) {
        bytes = Array(SHA256.hash(data: Array(secret.reveal().utf8)))
    }

    /// A hash read from the database.
    package init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether this is the hash of a secret, in constant time.
    package func matches(_ secret: Secret<String>) -> Bool { self == SecretHash(of: secret) }

    /// Compares in constant time.
    package static func == (left: SecretHash, right: SecretHash) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
}

/// The hash of a value that could be guessed, under the key of ``KeyedHasher``.
package struct KeyedHash: Hashable, Sendable {
    /// HMAC-SHA256.
    package let bytes: [UInt8]

    /// A hash read from the database.
    package init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Compares in constant time.
    package static func == (left: KeyedHash, right: KeyedHash) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
}

/// The digest by which a repeated message is recognised.
package struct MessageDigest: Hashable, Sendable {
    /// SHA-256, or HMAC-SHA256 where the message could be guessed.
    package let bytes: [UInt8]

    /// The SHA-256 of a message.
    init(of message: [UInt8]) {
        bytes = Array(SHA256.hash(data: message))
    }

    /// A digest read from the database.
    package init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    var hex: String { Hex.encode(bytes) }
}
