import Crypto
import Encodings

/// How a passphrase becomes a key: salted and hashed over and over.
///
/// The hash only stretches here, so that SHA-1, which gpg writes, does no harm.
/// Spec: RFC 9580 §3.7.1.3.
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

    /// A fresh one: SHA-256 over 62 MiB, the most the format can say.
    init(salt: [UInt8]) {
        (hash, self.salt, codedCount) = (.sha256, salt, 0xFF)
    }

    /// Reads what follows the type octet.
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
        // Many copies at a time: the unit alone is short.
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
            // What one hash is too short for, the next continues, told apart by zeros in front.
            zeros += 1
        }
        return SymmetricKey(data: key.prefix(size))
    }
}
