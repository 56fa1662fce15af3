import Crypto
import Encodings
@testable import OpenPGP
import Testing

@Suite("RFC 9580 §5.1, §11.5: session keys")
struct SessionKeyTests {
    private let recipient: DecryptionKeyPair

    init() throws {
        recipient = try PeerFixture.encryption()
    }

    /// Takes the session key from a packet's content, as opening a message does.
    private func open(_ body: [UInt8]) async throws -> [UInt8] {
        try await SessionKey.decrypted(from: body[...], with: recipient).key.withUnsafeBytes { Array($0) }
    }

    @Test("RFC 3394 §4.6: 256 bits of key data wrapped with 256 bits of key")
    func keyWrap() throws {
        let key = SymmetricKey(
            data: try #require(Hex.decode("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")))
        let data = SymmetricKey(
            data: try #require(Hex.decode("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")))
        let wrapped = "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
        #expect(Hex.encode(try AES.KeyWrap.wrap(data, using: key)) == wrapped)
        #expect(try AES.KeyWrap.unwrap(try #require(Hex.decode(wrapped)), using: key) == data)
    }

    @Test("RFC 9580 §11.5: the session key of gpg's message is the one gpg shows")
    func knownAnswer() async throws {
        let message = try #require(Hex.decode(PeerFixture.message))
        let packet = try #require(try Packet.sequence(message[...]).first)
        #expect(packet.tag == .encryptedSessionKey)
        #expect(Hex.encode(try await open(Array(packet.body))) == PeerFixture.sessionKey)
        #expect(try SessionKey.recipientKeyID(of: packet.body) == recipient.publicKey.fingerprint.keyID)
    }

    @Test("A session key comes back through both ciphers that wrap it")
    func roundTrip() async throws {
        let key = SessionKey()
        let bytes = key.key.withUnsafeBytes { Array($0) }
        #expect(try await open(try key.encrypted(to: recipient.publicKey)) == bytes)
        // What a key wraps with is part of its fingerprint: two keys of one scalar do not open each other's messages.
        guard case .ecdh(let material, _) = recipient.publicKey.material else { throw OpenPGPError.wrongKeyFlags }
        let other = PublicKey(.ecdh(material, keyWrap: .aes128), createdAt: PeerFixture.time)
        let sealed = try key.encrypted(to: other)
        await #expect(throws: OpenPGPError.decryptionFailed) { try await open(sealed) }
        #expect(throws: OpenPGPError.wrongKeyFlags) { try key.encrypted(to: try PeerFixture.primary().publicKey) }
    }

    @Test("FIPS 186-5 A.2.2: every message has a key of its own for its agreement, and each opens")
    func ephemeralKeys() async throws {
        let key = SessionKey()
        var points: Set<[UInt8]> = []
        for _ in 0..<100 {
            let sealed = try key.encrypted(to: recipient.publicKey)
            // Behind version, key ID, algorithm and bit count.
            points.insert(Array(sealed[12..<77]))
            #expect(try await open(sealed) == key.key.withUnsafeBytes { Array($0) })
        }
        #expect(points.count == 100)
    }

    @Test("RFC 9580 §5.1: other versions are refused by number", arguments: [0, 2, 4, 6] as [UInt8])
    func versions(version: UInt8) throws {
        let body = [version] + (try SessionKey().encrypted(to: recipient.publicKey)).dropFirst()
        #expect(throws: OpenPGPError.unsupportedVersion(.encryptedSessionKey, version: version)) {
            try SessionKey.recipientKeyID(of: body[...])
        }
    }

    @Test("RFC 9580 §9.1: other algorithms are refused by number", arguments: [1, 16, 19, 25] as [UInt8])
    func algorithms(algorithm: UInt8) async throws {
        var body = try SessionKey().encrypted(to: recipient.publicKey)
        body[9] = algorithm
        await #expect(throws: OpenPGPError.unsupportedKeyAlgorithm(algorithm)) { try await open(body) }
    }

    @Test("RFC 9580 §5.1.5: a session key packet cut off anywhere is refused as cut off, a longer one as malformed")
    func truncated() async throws {
        let body = try SessionKey().encrypted(to: recipient.publicKey)
        for length in 0..<9 {
            #expect(throws: OpenPGPError.truncated) { try SessionKey.recipientKeyID(of: body[..<length]) }
        }
        for length in 9..<body.count {
            await #expect(throws: OpenPGPError.truncated) { try await open(Array(body.prefix(length))) }
        }
        await #expect(throws: OpenPGPError.malformedPacket(.encryptedSessionKey)) { try await open(body + [0]) }
    }

    @Test("A change of any bit of the wrapped key, or of the point, is refused")
    func everyByte() async throws {
        let body = try SessionKey().encrypted(to: recipient.publicKey)
        let wrapped = body.count - 48..<body.count
        for index in wrapped {
            var other = body
            other[index] ^= 0x10
            await #expect(throws: OpenPGPError.decryptionFailed, "byte \(index)") { try await open(other) }
        }
        // Behind two length octets: a point that is changed in one coordinate is off the curve.
        for index in 12..<12 + 65 {
            var other = body
            other[index] ^= 0x01
            await #expect(throws: OpenPGPError.malformedPacket(.encryptedSessionKey), "byte \(index)") {
                try await open(other)
            }
        }
    }

    @Test("RFC 9580 §11.5: another point on the curve, or infinity, opens nothing")
    func points() async throws {
        let body = try SessionKey().encrypted(to: recipient.publicKey)
        let point = Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        await #expect(throws: OpenPGPError.decryptionFailed) {
            try await open(body[..<12] + point + body[77...])
        }
        for point in [[], [0], [4], [2] + point[1..<33]] as [[UInt8]] {
            var other = Array(body[..<10])
            other.append(mpi: point)
            await #expect(throws: OpenPGPError.malformedPacket(.encryptedSessionKey)) {
                try await open(other + body[77...])
            }
        }
    }

    @Test("RFC 3394 §2.2: wrapped keys of any other length are refused", arguments: Array(0...64) + [255])
    func wrappedLengths(length: Int) async throws {
        let body = try SessionKey().encrypted(to: recipient.publicKey)
        let wrapped = [UInt8](repeating: 7, count: length)
        await #expect(throws: OpenPGPError.decryptionFailed) {
            try await open(body[..<77] + [UInt8(length)] + wrapped)
        }
    }

    @Test("RFC 9580 §5.1, §11.5: what is wrapped names AES-256 and has the right checksum and padding")
    func wrappedContent() async throws {
        let key = [UInt8](repeating: 1, count: 32)
        func opened(_ content: [UInt8]) async throws -> [UInt8] {
            try await open(try Forge.sessionKeyBody(wrapping: content, to: recipient.publicKey))
        }
        let padding = [UInt8](repeating: 5, count: 5)
        #expect(try await opened([9] + key + [0, 32] + padding) == key)
        #expect(try await opened([9] + key + [0, 32] + [UInt8](repeating: 13, count: 13)) == key)
        for cipher in [2, 7, 8, 10] as [UInt8] {
            await #expect(throws: OpenPGPError.unsupportedCipher(cipher)) {
                try await opened([cipher] + key + [0, 32] + padding)
            }
        }
        let refused: [[UInt8]] = [
            [9] + key + [0, 33] + padding, [9] + key + [1, 32] + padding, [9] + key + [0, 32, 5, 5, 5, 5, 4],
            [9] + key + [0, 32, 5, 5, 5, 4, 5], [9] + key + [0, 32, 0, 0, 0, 0, 0], [9] + key + [0, 32, 6, 6, 6, 6, 6],
            [9] + key.dropLast(16) + [0, 16] + padding, [9] + key + key.prefix(8) + [0, 40] + padding,
            [UInt8](repeating: 16, count: 16), [UInt8](repeating: 14, count: 16), [UInt8](repeating: 13, count: 16),
            [UInt8](repeating: 255, count: 40), [UInt8](repeating: 0, count: 40),
        ]
        for content in refused {
            await #expect(throws: OpenPGPError.decryptionFailed, "\(Hex.encode(content))") { try await opened(content) }
        }
    }
}
