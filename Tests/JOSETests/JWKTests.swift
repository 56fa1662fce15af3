import Crypto
import Encodings
import JOSE
import Testing

@Suite("RFC 7517, RFC 7518 §6.2: keys as JSON")
struct JWKTests {
    /// The key of RFC 7515 A.3, with a name.
    private static let json: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "key", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    ]

    private static func key(_ name: String, _ value: JSONValue?) -> JSONValue {
        var object = json.object ?? JSONObject()
        object[name] = value
        return .object(object)
    }

    @Test("A key that is written is read again")
    func roundTrip() throws {
        for _ in 0..<20 {
            let key = JWK(P256.Signing.PrivateKey().publicKey)
            let read = try JWK(try JSONValue(parsing: key.json.encoded))
            #expect(read.keyID == key.keyID)
            #expect(read.thumbprint == key.thumbprint)
            #expect(key.json["d"] == nil)
        }
    }

    @Test("RFC 7517 §4: members nobody knows are ignored, the known ones may be absent")
    func otherMembers() throws {
        #expect(try JWK(Self.json).keyID == "key")
        for (name, value) in [("use", "sig"), ("alg", "ES256"), ("x5t", "abc"), ("whatever", 1)]
            as [(String, JSONValue)]
        {
            #expect(try JWK(Self.key(name, value)).keyID == "key")
        }
    }

    @Test(
        "RFC 7517 §4, RFC 8725 §3.1: another type, curve, use or algorithm is refused as unsupported",
        arguments: [
            ("kty", "OKP"), ("kty", "oct"), ("kty", "AKP"), ("kty", "ec"), ("crv", "P-384"), ("crv", "secp256k1"),
            ("crv", "p-256"), ("crv", nil), ("crv", 256), ("use", "enc"), ("use", ""), ("use", 1), ("alg", "ES384"),
            ("alg", "none"), ("alg", "ECDH-ES"), ("alg", .null),
        ] as [(String, JSONValue?)])
    func unsupported(name: String, value: JSONValue?) {
        #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.key(name, value)) }
    }

    @Test("RFC 7518 §6.2.2, §6.3.2, §6.4: a private or symmetric key is refused, even one that is no number")
    func privateKey() {
        for value in ["jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", "", .null, 1] as [JSONValue] {
            for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
                #expect(throws: JOSEError.privateKey) { try JWK(Self.key(name, value)) }
            }
        }
    }

    @Test(
        "RFC 7518 §6.2.1.2, §6.2.1.3: coordinates of a wrong length, spelling or kind are refused",
        arguments: ["x", "y"])
    func coordinates(name: String) throws {
        let right = try #require(Self.json[name]?.string)
        let bytes = try #require(Base64URL.decode(right))
        let malformed: [JSONValue?] = [
            nil, .null, 1, "", .string(right + "="), .string(right + "A"), .string(String(right.dropLast())),
            .string(Base64.encode(bytes)), .string(Base64URL.encode([0] + bytes)),
            .string(Base64URL.encode(Array(bytes.dropFirst()))), .string(String(right.dropLast()) + "F"),
            .string(Hex.encode(bytes)), [.string(right)],
        ]
        for value in malformed { #expect(throws: JOSEError.malformed) { try JWK(Self.key(name, value)) } }
    }

    @Test("RFC 7518 §6.2.1: a point that is not on the curve is refused")
    func offCurve() throws {
        let x = try #require(Self.json["x"]?.string.flatMap { Base64URL.decode($0) })
        let y = try #require(Self.json["y"]?.string.flatMap { Base64URL.decode($0) })
        for bit in 0..<8 {
            let other = y.dropLast() + [y[31] ^ 1 << UInt8(bit)]
            #expect(throws: JOSEError.malformed) { try JWK(Self.key("y", .string(Base64URL.encode(other)))) }
        }
        #expect(throws: JOSEError.malformed) { try JWK(Self.key("y", .string(Base64URL.encode(x)))) }
        let zero = JSONValue.string(Base64URL.encode([UInt8](repeating: 0, count: 32)))
        #expect(throws: JOSEError.malformed) { try JWK(Self.key("y", zero)) }
        let large = JSONValue.string(Base64URL.encode([UInt8](repeating: 255, count: 32)))
        #expect(throws: JOSEError.malformed) { try JWK(Self.key("x", large)) }
    }

    @Test("What is no object, or has no name or type, is refused")
    func malformed() {
        for value in [.null, [], "key", 1, .members([:])] as [JSONValue] {
            #expect(throws: JOSEError.malformed) { try JWK(value) }
        }
        for value in [nil, .null, 1, []] as [JSONValue?] {
            #expect(throws: JOSEError.malformed) { try JWK(Self.key("kty", value)) }
        }
        for value in [.null, 1, []] as [JSONValue] {
            #expect(throws: JOSEError.malformed) { try JWK(Self.key("kid", value)) }
        }
    }

    @Test("RFC 7517 §4.5: a key may be without a name, and is written without one")
    func nameless() throws {
        let key = try JWK(Self.key("kid", nil))
        #expect(key.keyID == nil)
        #expect(key.json["kid"] == nil)
        #expect(key.thumbprint == "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
    }

    @Test("RFC 7517 §4.3: operations that allow verifying are accepted, others and malformed ones are not")
    func operations() throws {
        for value in [["verify"], ["sign", "verify"], ["verify", "x"]] as [JSONValue] {
            #expect(try JWK(Self.key("key_ops", value)).keyID == "key")
        }
        for value in [[], ["sign"], ["encrypt", "decrypt"], ["Verify"]] as [JSONValue] {
            #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.key("key_ops", value)) }
        }
        for value in ["verify", .null, ["verify", "verify"], ["verify", 1], .members(["verify": true])] as [JSONValue] {
            #expect(throws: JOSEError.malformed) { try JWK(Self.key("key_ops", value)) }
        }
    }

    @Test("RFC 7518 §6.1: the type of a key is compared by bytes")
    func typeBytes() {
        // The Kelvin sign is canonically equivalent to K.
        let kelvin = Vectors.edDSAKey.publicHalf.with("kty", "O\u{212A}P")
        #expect(throws: JOSEError.unsupportedKey) { try JWK(kelvin) }
    }

    @Test("RFC 7518 §6.2.1.2: each coordinate has its full length, also where the two together have it")
    func borrowedBytes() throws {
        let x = try #require(Self.json["x"]?.string.flatMap { Base64URL.decode($0) })
        let y = try #require(Self.json["y"]?.string.flatMap { Base64URL.decode($0) })
        for count in [0, 31, 33, 64] {
            let (first, second) = ((x + y).prefix(count), (x + y).dropFirst(count))
            let key = Self.key("x", .string(Base64URL.encode(first))).with("y", .string(Base64URL.encode(second)))
            #expect(throws: JOSEError.malformed) { try JWK(key) }
        }
    }
}
