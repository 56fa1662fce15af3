import Crypto
import CryptoExtras
import Encodings

/// The fields of a secret key packet that follow its public ones.
///
/// Spec: RFC 9580 §5.5.3, §3.7.2.1.
enum SecretKeyMaterial {
    private static let unprotected: UInt8 = 0
    private static let checked: UInt8 = 254
    private static let malleable: UInt8 = 255
    private static let aes256: UInt8 = 9
    private static let blockSize = 16
    private static let digestSize = 20
    /// gpg's marker for a secret key that is stored elsewhere: a type of its own, any hash, `GNU`, 1.
    private static let elsewhere: UInt8 = 101
    private static let elsewhereMark: [UInt8] = Array("GNU".utf8) + [1]

    /// The secret scalar, 32 bytes; nil if the key is stored elsewhere.
    static func scalar(
        reading reader: inout ByteReader, of tag: PacketTag, passphrase: String?
    ) throws(OpenPGPError) -> [UInt8]? {
        let usage = try reader.byte()
        switch usage {
        case unprotected:
            return try checkedScalar(&reader, tag)
        case checked, malleable:
            let cipher = try reader.byte()
            let type = try reader.byte()
            if type == elsewhere {
                _ = try reader.byte()
                guard reader.remaining().elementsEqual(elsewhereMark) else { throw .unsupportedStringToKey(type) }
                return nil
            }
            // With only two octets of checksum, an attacker could change the key unnoticed.
            guard usage == checked else { throw .unsupportedKeyProtection(usage) }
            guard type == StringToKey.iterated else { throw .unsupportedStringToKey(type) }
            let keySize = try keySize(of: cipher)
            let derivation = try StringToKey(reading: &reader)
            let iv = try reader.bytes(blockSize)
            guard let passphrase else { throw .passphraseNeeded }
            let key = derivation.key(from: passphrase, size: keySize)
            return try scalar(decrypting: reader.remaining(), with: key, iv: iv, tag)
        default:
            throw .unsupportedKeyProtection(usage)
        }
    }

    /// The fields for a scalar, sealed if there is a passphrase.
    static func encoded(_ scalar: [UInt8]?, passphrase: String?) throws(OpenPGPError) -> [UInt8] {
        guard let scalar else { return [malleable, 0, elsewhere, 0] + elsewhereMark }
        var plaintext: [UInt8] = []
        plaintext.append(mpi: scalar)
        guard let passphrase else {
            var fields = [unprotected] + plaintext
            fields.append(uint16: plaintext.checksum)
            return fields
        }
        let derivation = StringToKey(salt: [UInt8].random(8))
        let iv = [UInt8].random(blockSize)
        plaintext += Array(Insecure.SHA1.hash(data: plaintext))
        guard let cfbIV = try? AES._CFB.IV(ivBytes: iv),
            let sealed = try? AES._CFB.encrypt(
                plaintext, using: derivation.key(from: passphrase, size: 32), iv: cfbIV)
        else { throw .noUsableKey }
        return [checked, aes256] + derivation.encoded + iv + sealed
    }

    private static func checkedScalar(_ reader: inout ByteReader, _ tag: PacketTag) throws(OpenPGPError) -> [UInt8] {
        let fields = reader.remaining()
        guard fields.count > 2 else { throw .truncated }
        let sum = fields.suffix(2).reduce(0) { $0 << 8 | Int($1) }
        guard sum == fields.dropLast(2).checksum else { throw .malformedPacket(tag) }
        return try scalar(in: fields.dropLast(2), tag)
    }

    private static func scalar(
        decrypting ciphertext: ArraySlice<UInt8>, with key: SymmetricKey, iv: ArraySlice<UInt8>, _ tag: PacketTag
    ) throws(OpenPGPError) -> [UInt8] {
        guard ciphertext.count > digestSize else { throw .truncated }
        guard let iv = try? AES._CFB.IV(ivBytes: Array(iv)),
            let plaintext = try? AES._CFB.decrypt(Array(ciphertext), using: key, iv: iv)
        else { throw .wrongPassphrase }
        let fields = plaintext.dropLast(digestSize)
        guard constantTimeEqual(Array(Insecure.SHA1.hash(data: fields)), plaintext.suffix(digestSize)) else {
            throw .wrongPassphrase
        }
        return try scalar(in: Array(fields)[...], tag)
    }

    private static func scalar(in fields: ArraySlice<UInt8>, _ tag: PacketTag) throws(OpenPGPError) -> [UInt8] {
        var reader = ByteReader(fields)
        let scalar = try reader.scalar(in: tag)
        guard reader.isAtEnd else { throw .malformedPacket(tag) }
        return scalar
    }

    private static func keySize(of cipher: UInt8) throws(OpenPGPError) -> Int {
        switch cipher {
        case 7: return 16
        case 8: return 24
        case aes256: return 32
        default: throw .unsupportedCipher(cipher)
        }
    }
}
