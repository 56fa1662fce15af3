import Crypto
import Encodings

/// The derivation of a key from a passphrase: salted, and hashed repeatedly.
///
/// The hash only stretches the passphrase, so that SHA-1, which gpg writes, does no harm here. Spec: RFC 9580 §3.7.1.3.
struct StringToKey {
    static let iterated: UInt8 = 3
    private static let saltSize = 8

    enum Hash: UInt8 {
        case sha1 = 2
        case sha256 = 8
        case sha384 = 9
        case sha512 = 10
    }

    let hash: Hash
    let salt: [UInt8]
    let codedCount: UInt8

    /// New parameters: SHA-256 over 62 MiB, the most that the format can express.
    init(salt: [UInt8]) {
        (hash, self.salt, codedCount) = (.sha256, salt, 0xFF)
    }

    /// Reads the fields after the type octet.
    init(reading reader: inout ByteReader) throws(OpenPGPError) {
        let id = try reader.byte()
        guard let hash = Hash(rawValue: id) else { throw .unsupportedHash(id) }
        self.hash = hash
        salt = Array(try reader.bytes(Self.saltSize))
        codedCount = try reader.byte()
    }

    var encoded: [UInt8] { [Self.iterated, hash.rawValue] + salt + [codedCount] }

    /// How many bytes are hashed.
    private var count: Int { (16 + Int(codedCount & 15)) << (Int(codedCount >> 4) + 6) }

    func key(from passphrase: String, size: Int) -> SymmetricKey {
        switch hash {
        case .sha1: key(Insecure.SHA1.self, passphrase, size)
        case .sha256: key(SHA256.self, passphrase, size)
        case .sha384: key(SHA384.self, passphrase, size)
        case .sha512: key(SHA512.self, passphrase, size)
        }
    }

    private func key<Function: HashFunction>(_: Function.Type, _ passphrase: String, _ size: Int) -> SymmetricKey {
        let unit = salt + Array(passphrase.utf8)
        let total = max(count, unit.count)
        // Hashing many copies at a time is faster, because one unit is short.
        let copies = [[UInt8]](repeating: unit, count: min(1024, total / unit.count + 1)).flatMap { $0 }
        var key: [UInt8] = []
        var zeros = 0
        while key.count < size {
            var hash = Function()
            hash.update(data: [UInt8](repeating: 0, count: zeros))
            var left = total
            while left > 0 {
                let part = copies.prefix(left)
                hash.update(data: part)
                left -= part.count
            }
            key += Array(hash.finalize())
            // If one hash is too short, the next one continues; zeros in front make it different.
            zeros += 1
        }
        return SymmetricKey(data: key.prefix(size))
    }
}
