import Crypto
import CryptoExtras
import Encodings

/// Symmetrically encrypted and integrity protected data, version 1: AES-256 in CFB mode with a SHA-1 checksum inside.
///
/// Spec: RFC 9580 §5.13.1.
enum ProtectedData {
    private static let blockSize = 16
    private static let checksumHeader: [UInt8] = [0xD3, 0x14]
    private static let checksumSize = 20
    private static let zeroIV = [UInt8](repeating: 0, count: blockSize)

    /// The content of the packet that holds some encrypted packets.
    static func encrypt(_ packets: [UInt8], with key: SessionKey) throws(OpenPGPError) -> [UInt8] {
        let prefix = [UInt8].random(blockSize)
        var plaintext: [UInt8] = []
        plaintext.reserveCapacity(packets.count + blockSize + 2 + checksumHeader.count + checksumSize)
        // The last two bytes of the prefix occur twice. Decryption must ignore them: checking them would be an oracle.
        plaintext += prefix + prefix.suffix(2) + packets + checksumHeader
        plaintext += Array(Insecure.SHA1.hash(data: plaintext))
        guard let iv = try? AES._CFB.IV(ivBytes: zeroIV),
            let ciphertext = try? AES._CFB.encrypt(plaintext, using: key.key, iv: iv)
        else { throw .noUsableKey }
        return [1] + ciphertext
    }

    /// The packets inside, after the checksum was verified.
    static func decrypt(_ body: ArraySlice<UInt8>, with key: SessionKey) throws(OpenPGPError) -> [UInt8] {
        let version = body.first ?? 0
        guard version == 1 else { throw .unsupportedVersion(.protectedData, version: version) }
        guard let iv = try? AES._CFB.IV(ivBytes: zeroIV),
            let plaintext = try? AES._CFB.decrypt(Array(body.dropFirst()), using: key.key, iv: iv),
            plaintext.count >= blockSize + 2 + checksumHeader.count + checksumSize
        else { throw .decryptionFailed }
        let covered = plaintext.dropLast(checksumSize)
        let checksum = Array(Insecure.SHA1.hash(data: covered))
        guard constantTimeEqual(checksum + checksumHeader, plaintext.suffix(checksumSize) + covered.suffix(2)) else {
            throw .decryptionFailed
        }
        return Array(covered.dropFirst(blockSize + 2).dropLast(checksumHeader.count))
    }
}
