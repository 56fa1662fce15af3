import Crypto
import Encodings
import JOSE
import Testing

@Suite("RFC 7517 §4, RFC 7518 §6: private keys as JSON")
struct PrivateJWKTests {
    private static func read(_ json: JSONValue) throws -> PrivateJWK {
        try PrivateJWK(importing: Secret(json.encoded))
    }

    @Test("A key that is written is read again, and is named by its thumbprint")
    func roundTrip() throws {
        let keys = [
            PrivateJWK(P256.Signing.PrivateKey()), PrivateJWK(Curve25519.Signing.PrivateKey()),
            PrivateJWK(try RSAPrivateKey()),
        ]
        for key in keys {
            let again = try PrivateJWK(importing: key.exported())
            #expect(again.keyID == key.publicKey.thumbprint)
            #expect(again.publicKey.thumbprint == key.publicKey.thumbprint)
            #expect(again.exported().isSame(as: key.exported()))
        }
        #expect(PrivateJWK(P256.Signing.PrivateKey(), keyID: "mine").keyID == "mine")
        #expect(PrivateJWK(Curve25519.Signing.PrivateKey(), keyID: "mine").publicKey.keyID == "mine")
    }

    @Test("What is public of it holds nothing private", arguments: TestKey.allCases)
    func publicHalf(key: TestKey) throws {
        let json = try key.privateKey.publicKey.json
        let expected = key.json.publicHalf.with("kid", .string(key.rawValue)).with("use", "sig")
        #expect(json == expected.with("alg", .string(key.rawValue)))
        #expect(try JWKSet(JWKSet([key.privateKey.publicKey]).json).keys.count == 1)
    }

    @Test("Nothing private is in what it prints, dumps or mirrors", arguments: TestKey.allCases)
    func prints(key: TestKey) throws {
        let privateKey = try key.privateKey
        var dumped = ""
        dump(privateKey, to: &dumped)
        let texts = [
            "\(privateKey)", String(describing: privateKey), String(reflecting: privateKey), dumped, "\([privateKey])",
            "\(privateKey.exported())", "\(Optional(privateKey) as Any)",
        ]
        var secrets: [String] = []
        for name in ["d", "p", "q", "dp", "dq", "qi"] {
            guard let text = key.json[name]?.string else { continue }
            let bytes = try #require(Base64URL.decode(text))
            secrets += [text, Base64.encode(bytes), Hex.encode(bytes), Hex.encodeUppercase(bytes), "\(bytes)"]
        }
        #expect(!secrets.isEmpty)
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
    }

    @Test("A private half that belongs to another public half is refused", arguments: TestKey.allCases)
    func mismatch(key: TestKey) throws {
        let other: JSONValue =
            switch key {
            case .es256: Vectors.encryptionKey
            case .rs256: Vectors.rsaKey
            case .edDSA: ["d": .string(Base64URL.encode([UInt8](repeating: 7, count: 32)))]
            }
        for name in ["d", "p", "q", "dp", "dq", "qi"] where key.json[name] != nil {
            #expect(throws: JOSEError.malformed, "\(name)") { try Self.read(key.json.with(name, other[name])) }
        }
    }

    @Test("RFC 7518 §6.2.2, §6.3.2: a number that is missing or no number is refused", arguments: TestKey.allCases)
    func numbers(key: TestKey) throws {
        for name in ["d", "p", "q", "dp", "dq", "qi"] where key.json[name] != nil {
            let right = try #require(key.json[name]?.string)
            for value in [nil, .null, 1, "", "AA", .string(right + "="), .string("AAAA" + right)] as [JSONValue?] {
                #expect(throws: JOSEError.malformed, "\(name)") { try Self.read(key.json.with(name, value)) }
            }
        }
    }

    @Test("RFC 7518 §6.3.2.7: a key of more than two primes is refused")
    func otherPrimes() {
        #expect(throws: JOSEError.unsupportedKey) { try Self.read(Vectors.rs256Key.with("oth", [])) }
    }

    @Test("RFC 7517 §4.2 to §4.4: a key that is not for signing with its algorithm is refused")
    func uses() throws {
        for (name, value) in [
            ("use", "enc"), ("alg", "ES384"), ("key_ops", ["verify"]), ("key_ops", []),
        ] as [(String, JSONValue)] {
            #expect(throws: JOSEError.unsupportedKey) { try Self.read(Vectors.es256Key.with(name, value)) }
        }
        for value in [["sign"], ["sign", "verify"]] as [JSONValue] {
            #expect(try Self.read(Vectors.es256Key.with("key_ops", value)).jwsPublicKey.algorithm == .es256)
        }
    }

    @Test("A scalar of zero, or of the curve's order, is no key")
    func scalars() throws {
        let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        for scalar in [[UInt8](repeating: 0, count: 32), try #require(Hex.decode(order))] {
            let json = Vectors.es256Key.with("d", .string(Base64URL.encode(scalar)))
            #expect(throws: JOSEError.malformed) { try Self.read(json) }
        }
    }

    @Test("What is no JSON object is refused")
    func malformed() {
        for text in ["", "[]", "null", "{", "{\"kty\":\"EC\",\"kty\":\"EC\"}", "{}"] {
            #expect(throws: JOSEError.malformed) { try PrivateJWK(importing: Secret(Array(text.utf8))) }
        }
        #expect(throws: JOSEError.malformed) { try Self.read(Vectors.es256Key.with("kid", 1)) }
        let symmetric: JSONValue = ["kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"]
        #expect(throws: JOSEError.unsupportedKey) { try Self.read(symmetric) }
    }
}
