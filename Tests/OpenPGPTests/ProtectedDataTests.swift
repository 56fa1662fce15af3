import Crypto
import CryptoExtras
@testable import OpenPGP
import Testing

@Suite("RFC 9580 §5.13.1: protected data, version 1")
struct ProtectedDataTests {
    private let key = SessionKey()
    private let packets = Forge.packet(.literalData, [0x62, 0, 0, 0, 0, 0] + Array("content".utf8))

    private func open(_ body: [UInt8]) throws -> [UInt8] { try ProtectedData.decrypt(body[...], with: key) }

    /// Encrypts what stands there, prefix and checksum included.
    private func encrypt(_ plaintext: [UInt8], iv: [UInt8] = [UInt8](repeating: 0, count: 16)) throws -> [UInt8] {
        [1] + (try AES._CFB.encrypt(plaintext, using: key.key, iv: try AES._CFB.IV(ivBytes: iv)))
    }

    private func checksum(_ covered: [UInt8]) -> [UInt8] { Array(Insecure.SHA1.hash(data: covered)) }

    @Test("What is encrypted is decrypted, of any length", arguments: [0, 1, 15, 16, 17, 1000])
    func roundTrip(length: Int) throws {
        let content = [UInt8](repeating: 3, count: length)
        let sealed = try ProtectedData.encrypt(content, with: key)
        #expect(sealed.count == 1 + 18 + length + 22)
        #expect(try open(sealed) == content)
        #expect(try ProtectedData.encrypt(content, with: key) != sealed)
    }

    @Test("RFC 9580 §5.13.2: version 2 and others are refused by number", arguments: [0, 2, 3, 255] as [UInt8])
    func versions(version: UInt8) throws {
        let body = [version] + (try ProtectedData.encrypt(packets, with: key)).dropFirst()
        #expect(throws: OpenPGPError.unsupportedVersion(.protectedData, version: version)) { try open(body) }
    }

    @Test("A body cut off anywhere is refused")
    func truncated() throws {
        let body = try ProtectedData.encrypt(packets, with: key)
        #expect(throws: OpenPGPError.unsupportedVersion(.protectedData, version: 0)) { try open([]) }
        for length in 1..<body.count {
            #expect(throws: OpenPGPError.decryptionFailed, "\(length) bytes") { try open(Array(body.prefix(length))) }
        }
        #expect(throws: OpenPGPError.decryptionFailed) { try open(body + [0]) }
        #expect(throws: OpenPGPError.decryptionFailed) { try open(body + body.dropFirst()) }
    }

    @Test("A change of any byte is refused, the random prefix and its repetition among them")
    func everyByte() throws {
        let body = try ProtectedData.encrypt(packets, with: key)
        for index in body.indices.dropFirst() {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var other = body
                other[index] ^= change
                #expect(throws: OpenPGPError.decryptionFailed, "byte \(index)") { try open(other) }
            }
        }
    }

    @Test("Data without its checksum, with another's, or with one of other framing is refused")
    func checksums() throws {
        let prefix = [UInt8](repeating: 9, count: 18)
        let covered = prefix + packets + [0xD3, 0x14]
        #expect(try open(try encrypt(covered + checksum(covered))) == packets)
        let wrong: [[UInt8]] = [
            prefix + packets, covered, prefix + packets + checksum(prefix + packets), covered + checksum(packets),
            covered + checksum(prefix + packets), covered + [UInt8](repeating: 0, count: 20),
            covered + checksum(covered).dropLast() + [0], covered + checksum(covered) + [0],
            prefix + packets + [0xD3, 0x15] + checksum(prefix + packets + [0xD3, 0x15]),
            prefix + packets + [0xD3, 0xFF] + checksum(prefix + packets + [0xD3, 0xFF]),
            prefix + [0xD3, 0x14] + checksum(prefix + [0xD3, 0x14]) + packets, [],
            [0xD3, 0x14] + checksum([0xD3, 0x14]),
        ]
        for plaintext in wrong {
            let body = try encrypt(plaintext)
            #expect(throws: OpenPGPError.decryptionFailed) { try open(body) }
        }
    }

    @Test("The repeated bytes of the prefix decide nothing: looking at them would be an oracle")
    func noQuickCheck() throws {
        let prefix = (0..<18).map { UInt8($0) }
        let covered = prefix + packets + [0xD3, 0x14]
        #expect(try open(try encrypt(covered + checksum(covered))) == packets)
    }

    @Test("Data under another key, or in the resynchronising mode of tag 9, is refused")
    func otherKeys() throws {
        let body = try ProtectedData.encrypt(packets, with: SessionKey())
        #expect(throws: OpenPGPError.decryptionFailed) { try open(body) }
        let covered = [UInt8](repeating: 9, count: 18) + packets + [0xD3, 0x14]
        let otherStart = try encrypt(covered + checksum(covered), iv: [UInt8](repeating: 1, count: 16))
        #expect(throws: OpenPGPError.decryptionFailed) { try open(otherStart) }
    }
}
