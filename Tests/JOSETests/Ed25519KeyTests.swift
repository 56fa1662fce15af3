import Crypto
import Encodings
import JOSE
import Testing

@Suite("RFC 8037 §2: Ed25519 keys")
struct Ed25519KeyTests {
    private static let json = Vectors.edDSAKey.publicHalf

    private static func key(_ point: [UInt8]) -> JSONValue { json.with("x", .string(Base64URL.encode(point))) }

    /// The encodings of the points whose order divides 8.
    private static let smallOrder: [[UInt8]] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ].map { Hex.decode($0) ?? [] }

    @Test(
        "RFC 8725 §3.5, RFC 8032 §5.1: a point of small order is no key: with the neutral one anybody's signature verifies"
    )
    func smallOrder() throws {
        for point in Self.smallOrder {
            for sign in [0, 0x80] as [UInt8] {
                let other = Array(point.dropLast()) + [point[31] | sign]
                #expect(throws: JOSEError.weakKey) { try JWK(Self.key(other)) }
            }
        }
        // Why: R = [s]B with s = 0 is the neutral point, and so is [h]A, whatever the content.
        let neutral = try Curve25519.Signing.PublicKey(rawRepresentation: Self.smallOrder[1])
        let forged = Self.smallOrder[1] + [UInt8](repeating: 0, count: 32)
        #expect(neutral.isValidSignature(forged, for: Array("anything".utf8)))
    }

    @Test("RFC 8032 §5.1.3, step 1: a coordinate of 2^255 − 19 or more is refused, one below is read")
    func reduced() throws {
        for first in UInt8(0xEE)...0xFF {
            let point = [first] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
            #expect(throws: JOSEError.malformed) { try JWK(Self.key(point)) }
            #expect(throws: JOSEError.malformed) { try JWK(Self.key(Array(point.dropLast()) + [0xFF])) }
        }
        #expect(throws: JOSEError.malformed) {
            try JWK(Self.key([0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]))
        }
        #expect(try JWK(Self.key([0xEB] + [UInt8](repeating: 0xFF, count: 30) + [0x7F])).publicKey.algorithm == .edDSA)
    }

    @Test("RFC 8037 §2: a point of another length, spelling or kind is refused")
    func forms() throws {
        let right = try #require(Self.json["x"]?.string)
        let bytes = try #require(Base64URL.decode(right))
        let malformed: [JSONValue?] = [
            nil, .null, 1, "", .string(right + "="), .string(right + "A"), .string(String(right.dropLast())),
            Self.key([0] + bytes)["x"], Self.key(Array(bytes.dropFirst()))["x"], .string(Hex.encode(bytes)),
        ]
        for value in malformed { #expect(throws: JOSEError.malformed) { try JWK(Self.json.with("x", value)) } }
        for curve in ["X25519", "Ed448", "ed25519", "P-256", .null, 1, nil] as [JSONValue?] {
            #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.json.with("crv", curve)) }
        }
        #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.json.with("alg", "Ed25519")) }
        #expect(try JWK(Self.json.with("alg", "EdDSA")).publicKey.algorithm == .edDSA)
    }

    @Test("A key that is written is read again")
    func roundTrip() throws {
        for _ in 0..<20 {
            let key = JWK(.ed25519(Curve25519.Signing.PrivateKey().publicKey))
            let read = try JWK(try JSONValue(parsing: key.json.encoded))
            #expect(read.keyID == key.keyID)
            #expect(read.thumbprint == key.thumbprint)
        }
    }
}
