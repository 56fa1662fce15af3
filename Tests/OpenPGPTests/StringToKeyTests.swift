import Crypto
import Encodings
@testable import OpenPGP
import Testing

@Suite("RFC 9580 §3.7.1.3: passphrases become keys")
struct StringToKeyTests {
    private func derivation(_ hash: UInt8, count: UInt8) throws -> StringToKey {
        var reader = ByteReader([hash, 1, 2, 3, 4, 5, 6, 7, 8, count])
        return try StringToKey(reading: &reader)
    }

    private func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

    @Test("The octet of the count means what the formula says: salt and passphrase over and over, the last one cut")
    func counts() throws {
        let unit: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8] + Array("passphrase".utf8)
        for (coded, count) in [(0x00, 1024), (0x0F, 1984), (0x10, 2048), (0x60, 65536)] as [(UInt8, Int)] {
            let stream = Array([[UInt8]](repeating: unit, count: count / unit.count + 1).joined().prefix(count))
            let key = try derivation(8, count: coded).key(from: "passphrase", size: 32)
            #expect(bytes(key) == Array(SHA256.hash(data: stream)))
        }
    }

    @Test("A hash that is shorter than the key goes on with a zero in front")
    func longKeys() throws {
        let unit: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8] + Array("a".utf8)
        let stream = Array([[UInt8]](repeating: unit, count: 1024).joined().prefix(1024))
        let expected = Array(Insecure.SHA1.hash(data: stream)) + Array(Insecure.SHA1.hash(data: [0] + stream))
        #expect(bytes(try derivation(2, count: 0).key(from: "a", size: 32)) == Array(expected.prefix(32)))
        #expect(bytes(try derivation(2, count: 0).key(from: "a", size: 16)) == Array(expected.prefix(16)))
        #expect(
            bytes(try derivation(10, count: 0).key(from: "a", size: 32)) == Array(SHA512.hash(data: stream).prefix(32)))
        #expect(
            bytes(try derivation(9, count: 0).key(from: "a", size: 32)) == Array(SHA384.hash(data: stream).prefix(32)))
    }

    @Test("A passphrase longer than the count is hashed whole, once")
    func longPassphrases() throws {
        let passphrase = String(repeating: "é", count: 2000)
        let key = try derivation(8, count: 0).key(from: passphrase, size: 32)
        #expect(bytes(key) == Array(SHA256.hash(data: [1, 2, 3, 4, 5, 6, 7, 8] + Array(passphrase.utf8))))
    }

    @Test("What is written is read again")
    func roundTrip() throws {
        let made = StringToKey(salt: [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(made.encoded == [3, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0xFF])
        var reader = ByteReader(made.encoded.dropFirst())
        let read = try StringToKey(reading: &reader)
        #expect(read.encoded == made.encoded)
        #expect(reader.isAtEnd)
    }
}
