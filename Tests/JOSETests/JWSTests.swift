import Crypto
import Encodings
import JOSE
import TestSupport
import Testing

@Suite("RFC 7515: signed contents in compact form")
struct JWSTests {
    private static let type = "test+jwt"
    private static let payload = Array("{\"a\":1}".utf8)
    private static let header: JSONValue = ["alg": "ES256", "typ": "test+jwt", "kid": "key"]

    private let key = P256.Signing.PrivateKey()
    private let keys: JWKSet

    init() {
        keys = Self.set(["key": key])
    }

    /// A set of keys by name.
    private static func set(_ named: KeyValuePairs<String, P256.Signing.PrivateKey>) -> JWKSet {
        JWKSet(named.map { JWK(.p256($1.publicKey), keyID: $0) })
    }

    /// A JWS with any header, its signature right.
    private func sign(_ header: [UInt8], _ payload: [UInt8] = payload) throws -> String {
        let input = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
        let signature = try key.signature(for: Array(input.utf8))
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    private func sign(_ name: String, _ value: JSONValue?) throws -> String {
        var object = Self.header.object ?? JSONObject()
        object[name] = value
        return try sign(JSONValue.object(object).encoded)
    }

    private func verify(_ compact: String) throws -> [UInt8] {
        try verify(compact, keys)
    }

    private func verify(_ compact: String, _ keys: JWKSet) throws -> [UInt8] {
        try JWS.verify(compact, algorithms: [.es256], type: .exactly(Self.type), keys: keys).payload
    }

    // Spec: RFC 7515 §4.1.3; RFC 9449 §4.2.
    @Test("A proof is verified by the public key in its own header, which nothing else looks at")
    func proof() async throws {
        let proof = try await JWS.signProof(Self.payload, type: Self.type, by: key)
        let verified = try JWS.verifyProof(proof, algorithms: [.es256], type: Self.type)
        #expect(verified.payload == Self.payload && verified.key.thumbprint == JWK(key.publicKey).thumbprint)
        #expect(throws: JOSEError.unknownKeyID) { try verify(proof) }
        func refused(_ jwk: JSONValue?) throws -> JOSEError? {
            let header = JSONValue.members(["alg": "ES256", "typ": .string(Self.type), "jwk": jwk])
            let forged = try sign(header.encoded)
            do throws(JOSEError) {
                _ = try JWS.verifyProof(forged, algorithms: [.es256], type: Self.type)
                return nil
            } catch {
                return error
            }
        }
        #expect(try refused(JWK(key.publicKey).json) == nil)
        #expect(try refused(nil) == .malformed)
        #expect(try refused(JWK(P256.Signing.PrivateKey().publicKey).json) == .badSignature)
        #expect(try refused(try JSONValue(parsing: PrivateJWK(key).exported().reveal())) == .privateKey)
        #expect(try refused(["kty": "oct", "k": "c2VjcmV0"]) == .privateKey)
    }

    @Test("A content comes back, whatever its bytes")
    func roundTrip() async throws {
        for payload in [[], [0], Array(UInt8.min...UInt8.max), Self.payload] as [[UInt8]] {
            #expect(try verify(try await JWS.sign(payload, type: Self.type, by: key, keyID: "key")) == payload)
        }
    }

    @Test(
        "RFC 8725 §3.1: any algorithm but ES256 is refused, none among them",
        arguments: [
            "none", "None", "HS256", "ES384", "RS256", "EdDSA", "es256", "ES256 ", "", .null, 256, ["ES256"], nil,
        ]
            as [JSONValue?])
    func algorithms(algorithm: JSONValue?) throws {
        let compact = try sign("alg", algorithm)
        #expect(throws: JOSEError.unexpectedAlgorithm) { try verify(compact) }
    }

    @Test("RFC 7515 §6: a content without a signature, as `none` has it, is refused")
    func unsigned() throws {
        let header = Base64URL.encode(JSONValue.members(["alg": "none", "typ": "test+jwt", "kid": "key"]).encoded)
        #expect(throws: JOSEError.unexpectedAlgorithm) { try verify("\(header).\(Base64URL.encode(Self.payload)).") }
        #expect(throws: JOSEError.malformed) { try verify("\(header).\(Base64URL.encode(Self.payload))") }
    }

    @Test(
        "RFC 8725 §3.11: any type but the expected one is refused",
        arguments: ["JWT", "TEST+JWT", "test+jwt ", "application/test+jwt", "", .null, 1, nil] as [JSONValue?])
    func types(type: JSONValue?) throws {
        let compact = try sign("typ", type)
        #expect(throws: JOSEError.unexpectedType) { try verify(compact) }
    }

    @Test(
        "RFC 7515 §4.1.11: a critical header is refused, whatever it lists",
        arguments: [["b64"], ["exp"], [], "exp", .null, .members([:])] as [JSONValue])
    func critical(value: JSONValue) throws {
        let compact = try sign("crit", value)
        #expect(throws: JOSEError.criticalHeader) { try verify(compact) }
    }

    @Test(
        "A key that is not named, or not known, is never replaced by another",
        arguments: ["other", "", "KEY", nil, .null, 1] as [JSONValue?])
    func unknownKeys(name: JSONValue?) throws {
        let compact = try sign("kid", name)
        #expect(throws: JOSEError.unknownKeyID) { try verify(compact) }
        #expect(throws: JOSEError.unknownKeyID) { try verify(compact, JWKSet([])) }
    }

    @Test("RFC 8725 §3.10: a key that the header brings along is not used")
    func embeddedKeys() throws {
        var object = Self.header.object ?? JSONObject()
        object["kid"] = "other"
        object["jwk"] = JWK(key.publicKey).json
        object["jku"] = "https://example.com/keys"
        let compact = try sign(JSONValue.object(object).encoded)
        #expect(throws: JOSEError.unknownKeyID) { try verify(compact) }
    }

    @Test("The key that is named decides, not any that fits")
    func namedKey() throws {
        let other = P256.Signing.PrivateKey()
        let compact = try sign(Self.header.encoded)
        let swapped = Self.set(["key": other, "second": key])
        #expect(throws: JOSEError.badSignature) { try verify(compact, swapped) }
        let both = Self.set(["second": other, "key": key])
        #expect(try verify(compact, both) == Self.payload)
    }

    @Test("RFC 7515 §7.1: three parts without padding, and nothing else")
    func forms() throws {
        let compact = try sign(Self.header.encoded)
        let parts = compact.split(separator: ".").map(String.init)
        let malformed = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(compact).", ".\(compact)", "\(compact).e30",
            "\(compact)=", "\(compact)==", "\(parts[0])=.\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1])=.\(parts[2])",
            "\(compact) ", " \(compact)", "\(compact)\n", "\(parts[0]). \(parts[1]).\(parts[2])",
            ".\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1]).\(parts[2])AA",
            "\(parts[0]).\(parts[1]).\(parts[2].dropLast(2))", "\(parts[0])+.\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1])/.\(parts[2])", "{\"payload\":\"\(parts[1])\",\"signatures\":[]}",
        ]
        for text in malformed { #expect(throws: JOSEError.malformed, "\(text)") { try verify(text) } }
    }

    /// The text with the pad bits of its last character set: lenient readers take it for the same bytes.
    private static func secondSpelling(_ text: String) throws -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // Only a text of whole groups of four has no pad bits.
        let last = try #require(text.utf8.count.isMultiple(of: 4) ? nil : text.last)
        let index = try #require(alphabet.firstIndex(of: last))
        return String(text.dropLast()) + String(alphabet[index + 1])
    }

    @Test("RFC 7515 §2, RFC 4648 §3.5: a second spelling of the same bytes is refused, though it is what was signed")
    func nonCanonical() throws {
        let (header, payload) = (Base64URL.encode(Self.header.encoded), Base64URL.encode(Self.payload))
        func signed(_ input: String) throws -> (input: String, signature: String) {
            (input, Base64URL.encode(try key.signature(for: Array(input.utf8)).rawRepresentation))
        }
        let right = try signed("\(header).\(payload)")
        #expect(try verify("\(right.input).\(right.signature)") == Self.payload)
        for (input, signature) in [
            try signed("\(try Self.secondSpelling(header)).\(payload)"),
            try signed("\(header).\(try Self.secondSpelling(payload))"),
            (right.input, try Self.secondSpelling(right.signature)),
        ] {
            #expect(throws: JOSEError.malformed) { try verify("\(input).\(signature)") }
        }
    }

    @Test("RFC 7515 §3.3: the DER form of a signature, and one of zeros, are refused")
    func signatureForms() throws {
        let header = Base64URL.encode(Self.header.encoded)
        let input = "\(header).\(Base64URL.encode(Self.payload))"
        let der = try key.signature(for: Array(input.utf8)).derRepresentation
        #expect(throws: JOSEError.malformed) { try verify("\(input).\(Base64URL.encode(der))") }
        for byte in [0, 255] as [UInt8] {
            let signature = Base64URL.encode([UInt8](repeating: byte, count: 64))
            #expect(throws: JOSEError.badSignature) { try verify("\(input).\(signature)") }
        }
    }

    @Test(
        "RFC 7515 §4, §5.2: a header that is no object, no JSON, or names something twice is refused",
        arguments: [
            "", "[]", "\"ES256\"", "null", "{",
            "{\"alg\":\"ES256\",\"alg\":\"none\",\"typ\":\"test+jwt\",\"kid\":\"key\"}",
            "{\"alg\":\"ES256\",\"typ\":\"test+jwt\",\"kid\":\"key\"} x", "\u{FEFF}{}",
        ])
    func headers(header: String) throws {
        let compact = try sign(Array(header.utf8))
        #expect(throws: JOSEError.malformed) { try verify(compact) }
    }

    @Test("A header that is not UTF-8 is refused")
    func invalidUTF8() throws {
        let compact = try sign(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8))
        #expect(throws: JOSEError.malformed) { try verify(compact) }
    }

    @Test("A change of any character is refused")
    func everyCharacter() throws {
        let compact = Array(try sign(Self.header.encoded).utf8)
        for index in compact.indices {
            for character in [UInt8(ascii: "A"), UInt8(ascii: "_"), UInt8(ascii: "."), compact[index] ^ 1]
            where character != compact[index] {
                var other = compact
                other[index] = character
                let text = String(decoding: other, as: UTF8.self)
                #expect(throws: JOSEError.self, "character \(index)") { try verify(text) }
            }
        }
    }

    @Test("The parts of two contents cannot be put together")
    func recombined() throws {
        let one = try sign(Self.header.encoded).split(separator: ".")
        let two = try sign(Self.header.encoded, Array("{\"a\":2}".utf8)).split(separator: ".")
        #expect(throws: JOSEError.badSignature) { try verify("\(one[0]).\(two[1]).\(one[2])") }
        #expect(throws: JOSEError.badSignature) { try verify("\(one[0]).\(one[1]).\(two[2])") }
    }

    @Test("RFC 7797 §6: an unencoded content is refused, whether or not it is marked as critical")
    func unencoded() throws {
        for value in [false, true, .null] as [JSONValue] {
            let compact = try sign("b64", value)
            #expect(throws: JOSEError.criticalHeader) { try verify(compact) }
        }
    }

    @Test("RFC 7515 §4: members nobody knows are ignored, and given to the caller as signed")
    func otherMembers() throws {
        let compact = try sign("cty", "example")
        let verified = try JWS.verify(compact, algorithms: [.es256], type: .exactly(Self.type), keys: keys)
        #expect(verified.header["cty"] == "example")
        #expect(verified.key.keyID == "key")
    }

    @Test("A header beyond its size is refused, and neither header nor content is made beyond theirs")
    func headerSize() async throws {
        let long = try sign("more", .string(String(repeating: "a", count: 6200)))
        #expect(throws: JOSEError.tooLarge) { try verify(long) }
        let fitting = try sign("more", .string(String(repeating: "a", count: 6000)))
        #expect(try verify(fitting) == Self.payload)
        await #expect(throws: JOSEError.tooLarge) {
            try await JWS.sign([], type: String(repeating: "a", count: 6200), by: key, keyID: "key")
        }
        let empty = try await JWS.sign([], type: Self.type, by: key, keyID: "key").utf8.count
        let most = (JWS.maximumSize - empty) * 3 / 4
        let largest = try await JWS.sign([UInt8](repeating: 0, count: most), type: Self.type, by: key, keyID: "key")
        #expect(largest.utf8.count <= JWS.maximumSize)
        #expect(try verify(largest).count == most)
        await #expect(throws: JOSEError.tooLarge) {
            try await JWS.sign([UInt8](repeating: 0, count: most + 1), type: Self.type, by: key, keyID: "key")
        }
    }

    @Test("A JWS beyond its size is refused before anything is read")
    func size() {
        #expect(throws: JOSEError.tooLarge) { try verify(String(repeating: "a", count: JWS.maximumSize + 1)) }
        #expect(throws: JOSEError.malformed) { try verify(String(repeating: "a", count: JWS.maximumSize)) }
    }

    @Test("Damaged texts are refused")
    func mutations() throws {
        var generator = SeededGenerator.announced(by: "JWSTests.mutations")
        let compact = try sign(Self.header.encoded)
        for _ in 0..<4000 {
            let damaged = String(decoding: generator.mutated(Array(compact.utf8)), as: UTF8.self)
            guard !damaged.hasSameBytes(as: compact) else { continue }
            #expect(throws: JOSEError.self, "seed \(generator.seed): \(damaged)") { try verify(damaged) }
        }
    }
}
