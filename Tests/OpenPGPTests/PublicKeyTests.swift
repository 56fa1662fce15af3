import Crypto
import Encodings
@testable import OpenPGP
import Testing

@Suite("RFC 9580 §5.5: public keys")
struct PublicKeyTests {
    private let signing: [UInt8]
    private let encryption: [UInt8]

    init() throws {
        signing = try PeerFixture.primary().publicKey.body
        encryption = try PeerFixture.encryption().publicKey.body
    }

    @Test("RFC 9580 §5.5.4.2: the fingerprints of two P-256 keys are those gpg prints")
    func fingerprints() throws {
        #expect("\(try PublicKey(parsing: signing).fingerprint)" == PeerFixture.fingerprint)
        #expect("\(try PublicKey(parsing: encryption).fingerprint)" == PeerFixture.subkeyFingerprint)
        let fingerprint = try #require(Fingerprint(PeerFixture.fingerprint.lowercased()))
        #expect("\(fingerprint)" == PeerFixture.fingerprint)
        #expect(Hex.encodeUppercase(fingerprint.keyID) == "E50739DA214D91AE")
        for text in ["", "79", PeerFixture.fingerprint + "00", String(PeerFixture.fingerprint.dropLast()), "zz"] {
            #expect(Fingerprint(text) == nil)
        }
    }

    @Test("A key that is read is written again with the same bytes")
    func roundTrip() throws {
        for body in [signing, encryption] {
            let key = try PublicKey(parsing: body)
            #expect(key.body == body)
            #expect(PublicKey(key.material, createdAt: key.createdAt).body == body)
            #expect(key.createdAt == PeerFixture.time)
        }
        let short = PublicKey(.ecdh(P256.KeyAgreement.PrivateKey().publicKey, keyWrap: .aes128), createdAt: 7)
        guard case .ecdh(_, keyWrap: .aes128) = try PublicKey(parsing: short.body).material else {
            Issue.record("the cipher that wraps session keys was lost")
            return
        }
    }

    @Test("RFC 9580 §5.5.2.2, §5.5.5.4, §5.5.5.6: version, time, algorithm, curve, point, and how a key is derived")
    func layout() throws {
        let start: [UInt8] = [4, 0x6A, 0, 0, 1]
        let curve: [UInt8] = [8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        // An integer of 515 bits: 04, x and y.
        let size: [UInt8] = [0x02, 0x03]
        let ecdsa = P256.Signing.PrivateKey().publicKey
        #expect(
            PublicKey(.ecdsa(ecdsa), createdAt: 0x6A00_0001).body
                == start + [19] + curve + size + Array(ecdsa.x963Representation))
        let ecdh = P256.KeyAgreement.PrivateKey().publicKey
        for (keyWrap, cipher) in [(.aes128, 7), (.aes256, 9)] as [(PublicKey.KeyWrap, UInt8)] {
            #expect(
                PublicKey(.ecdh(ecdh, keyWrap: keyWrap), createdAt: 0x6A00_0001).body
                    == start + [18] + curve + size + Array(ecdh.x963Representation) + [3, 1, 8, cipher])
        }
    }

    @Test("A key cut off anywhere is refused as cut off")
    func truncated() {
        for body in [signing, encryption] {
            for length in 0..<body.count {
                #expect(throws: OpenPGPError.truncated) { try PublicKey(parsing: body.prefix(length)) }
            }
        }
    }

    @Test("RFC 9580 §5.5.2: other versions are refused by number", arguments: [0, 2, 3, 5, 6, 255] as [UInt8])
    func versions(version: UInt8) {
        #expect(throws: OpenPGPError.unsupportedVersion(.publicKey, version: version)) {
            try PublicKey(parsing: [version] + signing.dropFirst())
        }
    }

    @Test("RFC 9580 §9.1: other algorithms are refused by number", arguments: [16, 17, 22, 25, 27, 0] as [UInt8])
    func algorithms(algorithm: UInt8) {
        var body = signing
        body[5] = algorithm
        #expect(throws: OpenPGPError.unsupportedKeyAlgorithm(algorithm)) { try PublicKey(parsing: body) }
    }

    @Test("RFC 9580 §12.4: RSA is refused, and a modulus below 2048 bits as weak", arguments: [1, 2, 3] as [UInt8])
    func rsa(algorithm: UInt8) {
        func key(bits: Int) throws -> PublicKey {
            var body: [UInt8] = [4, 0, 0, 0, 1, algorithm]
            body.append(uint16: bits)
            return try PublicKey(parsing: body)
        }
        for bits in [512, 1024, 2047] {
            #expect(throws: OpenPGPError.weakKey(bits: bits)) { try key(bits: bits) }
        }
        for bits in [2048, 4096] {
            #expect(throws: OpenPGPError.unsupportedKeyAlgorithm(algorithm)) { try key(bits: bits) }
        }
    }

    @Test(
        "RFC 9580 §9.2: other curves are refused",
        arguments: ["2b81040022", "2b81040023", "2b8104000a", "2b06010401da470f01", "2b060104019755010501", ""])
    func curves(oid: String) throws {
        let other = try #require(Hex.decode(oid))
        let body = signing[..<6] + [UInt8(other.count)] + other + signing[15...]
        #expect(throws: OpenPGPError.unsupportedCurve) { try PublicKey(parsing: body) }
    }

    /// Everything before the point, and the parameters behind it.
    private func key(_ body: [UInt8], point: [UInt8]) -> [UInt8] {
        var bytes = Array(body[..<15])
        bytes.append(mpi: point)
        return bytes + body[(15 + 2 + 65)...]
    }

    @Test("RFC 9580 §11.2.1: a point off the curve, at infinity, compressed or short is refused")
    func points() throws {
        for body in [signing, encryption] {
            let point = Array(body[17..<82])
            #expect(key(body, point: point) == body)
            let malformed: [[UInt8]] = [
                point.dropLast() + [point[64] ^ 1], [0], [], [2 + (point[64] & 1)] + point[1..<33],
                Array(point.dropLast()), [6] + point.dropFirst(), [7] + point.dropFirst(),
                [4] + [UInt8](repeating: 0, count: 64), [4] + [UInt8](repeating: 255, count: 64),
            ]
            for point in malformed {
                #expect(throws: OpenPGPError.malformedPacket(.publicKey), "\(Hex.encode(point))") {
                    try PublicKey(parsing: key(body, point: point))
                }
            }
        }
    }

    @Test("RFC 9580 §3.2: a point with a wrong bit count and bytes behind the key are refused")
    func framing() {
        var body = signing
        body[16] = 0x02
        #expect(throws: OpenPGPError.malformedPacket(.publicKey)) { try PublicKey(parsing: body) }
        body[16] = 0x04
        #expect(throws: OpenPGPError.malformedPacket(.publicKey)) { try PublicKey(parsing: body) }
        for body in [signing, encryption] {
            #expect(throws: OpenPGPError.malformedPacket(.publicKey)) { try PublicKey(parsing: body + [0]) }
        }
    }

    @Test(
        "RFC 9580 §5.5.5.6, §9.3: key derivation with other hashes, ciphers and forms is refused",
        arguments: [
            ([3, 1, 2, 9], .unsupportedHash(2)), ([3, 1, 10, 9], .unsupportedHash(10)),
            ([3, 1, 8, 8], .unsupportedCipher(8)), ([3, 1, 8, 2], .unsupportedCipher(2)),
            ([3, 2, 8, 9], .malformedPacket(.publicKey)), ([4, 1, 8, 9], .malformedPacket(.publicKey)),
            ([0, 1, 8, 9], .malformedPacket(.publicKey)), ([3, 1, 8, 9, 0], .malformedPacket(.publicKey)),
            ([3, 1, 8], .truncated),
        ] as [([UInt8], OpenPGPError)])
    func keyDerivation(parameters: [UInt8], error: OpenPGPError) {
        #expect(throws: error) { try PublicKey(parsing: encryption.dropLast(4) + parameters) }
    }

    @Test("A change of any bit refuses the key or makes another one")
    func everyBit() throws {
        for body in [signing, encryption] {
            let original = try PublicKey(parsing: body).fingerprint
            for index in body.indices {
                for bit in 0..<8 {
                    var other = body
                    other[index] ^= 1 << UInt8(bit)
                    guard let key = try? PublicKey(parsing: other) else { continue }
                    #expect(key.fingerprint != original)
                    #expect(key.body == other)
                }
            }
        }
    }
}
