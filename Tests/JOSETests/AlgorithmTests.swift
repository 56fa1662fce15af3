import Crypto
import Encodings
import JOSE
import TestSupport
import Testing

@Suite("RFC 7518 §3, RFC 8037 §3.1: every algorithm alike")
struct AlgorithmTests {
    private static let type = "test+jwt"

    private static func header(_ key: TestKey) -> JSONValue {
        ["alg": .string(key.rawValue), "typ": .string(type), "kid": .string(key.rawValue)]
    }

    /// The public keys of all kinds, each named after its algorithm.
    private static func allKeys() throws -> JWKSet {
        JWKSet(try TestKey.allCases.map { try $0.privateKey.publicKey })
    }

    private static func verify(
        _ compact: String, _ algorithms: Set<JWSAlgorithm> = Set(JWSAlgorithm.allCases)
    ) throws -> VerifiedJWS {
        try JWS.verify(compact, algorithms: algorithms, type: .exactly(type), keys: try allKeys())
    }

    @Test("A content comes back, whatever its bytes, and names its key", arguments: TestKey.allCases)
    func roundTrip(key: TestKey) async throws {
        for payload in [[], [0], Array(UInt8.min...UInt8.max)] as [[UInt8]] {
            let privateKey = try key.privateKey
            let compact = try await JWS.sign(
                payload, type: Self.type, by: privateKey, keyID: privateKey.keyID)
            let verified = try Self.verify(compact, [try key.algorithm])
            #expect(verified.payload == payload)
            #expect(verified.key.keyID == key.rawValue)
        }
    }

    @Test("RFC 8725 §3.1: an algorithm the caller did not name is refused", arguments: TestKey.allCases)
    func unnamed(key: TestKey) async throws {
        let compact = try await key.sign(Self.header(key))
        let algorithm = try key.algorithm
        #expect(try Self.verify(compact).payload == Array("payload".utf8))
        let others = Set(JWSAlgorithm.allCases).subtracting([algorithm])
        #expect(throws: JOSEError.unexpectedAlgorithm) { try Self.verify(compact, others) }
        #expect(throws: JOSEError.unexpectedAlgorithm) { try Self.verify(compact, []) }
    }

    @Test("RFC 8725 §3.1: no key is used with another kind's algorithm", arguments: TestKey.allCases)
    func confusion(key: TestKey) async throws {
        for other in TestKey.allCases where other != key {
            let header = Self.header(key).with("alg", .string(other.rawValue))
            let compact = try await key.sign(header)
            #expect(throws: JOSEError.wrongKey) { try Self.verify(compact) }
            let named = try await key.sign(Self.header(key).with("kid", .string(other.rawValue)))
            #expect(throws: JOSEError.wrongKey) { try Self.verify(named) }
        }
    }

    @Test(
        "RFC 8725 §2.1: a public key is no key for HMAC, and no other algorithm exists",
        arguments: [
            "none", "None", "nOnE", "HS256", "HS384", "HS512", "RS384", "RS512", "PS384", "ES384", "ES256K", "Ed25519",
            "Ed448", "eddsa", "rs256", "RS256 ", "",
        ])
    func others(name: String) async throws {
        let header = Self.header(.rs256).with("alg", .string(name))
        let input = "\(Base64URL.encode(header.encoded)).\(Base64URL.encode(Array("payload".utf8)))"
        // What a confused reader would accept: an HMAC under the public key's own text.
        let secret = SymmetricKey(data: try TestKey.rs256.privateKey.publicKey.json.encoded)
        let code = Array(HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: secret))
        for signature in [code, []] {
            #expect(throws: JOSEError.unexpectedAlgorithm) {
                try Self.verify("\(input).\(Base64URL.encode(signature))")
            }
        }
    }

    @Test("RFC 7518 §3.3, §3.4, RFC 8032 §5.1.6: a signature of another length is refused", arguments: TestKey.allCases)
    func lengths(key: TestKey) async throws {
        let compact = try await key.sign(Self.header(key))
        let parts = compact.split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        for other in [[], Array(signature.dropLast()), signature + [0], [0] + signature, Array(signature.dropFirst())] {
            #expect(throws: JOSEError.malformed) {
                try Self.verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(other))")
            }
        }
    }

    @Test("A change of any bit of content or signature is refused as a bad signature", arguments: TestKey.allCases)
    func everyBit(key: TestKey) async throws {
        let compact = try await key.sign(Self.header(key))
        let parts = compact.split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: JOSEError.badSignature, "byte \(index)") {
                try Self.verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(other))")
            }
        }
        let payload = Array("payload".utf8)
        for index in payload.indices {
            var other = payload
            other[index] ^= 1
            #expect(throws: JOSEError.badSignature, "byte \(index)") {
                try Self.verify("\(parts[0]).\(Base64URL.encode(other)).\(parts[2])")
            }
        }
    }

    @Test("A key without a name is never found in a set", arguments: TestKey.allCases)
    func noName(key: TestKey) async throws {
        let nameless = JWKSet([JWK(try key.privateKey.publicKey.publicKey, keyID: nil)])
        for name in [nil, "", .null, .string(key.rawValue)] as [JSONValue?] {
            let compact = try await key.sign(Self.header(key).with("kid", name))
            #expect(throws: JOSEError.unknownKeyID) {
                try JWS.verify(
                    compact, algorithms: [try key.algorithm], type: .exactly(Self.type), keys: nameless)
            }
        }
    }

    @Test("The only key verifies what names it or nobody, and nothing that names another")
    func onlyKey() async throws {
        let key = try TestKey.es256.privateKey.publicKey
        func verify(_ compact: String, _ key: JWK) throws -> [UInt8] {
            try JWS.verify(compact, algorithms: [.es256], type: .exactly(Self.type), key: key).payload
        }
        let header = Self.header(.es256)
        #expect(try verify(try await TestKey.es256.sign(header), key) == Array("payload".utf8))
        #expect(try verify(try await TestKey.es256.sign(header.with("kid", nil)), key) == Array("payload".utf8))
        for name in ["other", "", "es256", .null, 1] as [JSONValue] {
            let other = try await TestKey.es256.sign(header.with("kid", name))
            #expect(throws: JOSEError.unknownKeyID) { try verify(other, key) }
        }
        let named = try await TestKey.es256.sign(header)
        #expect(throws: JOSEError.unknownKeyID) { try verify(named, JWK(key.publicKey, keyID: nil)) }
    }

    @Test("RFC 8725 §3.10: no key is taken from where a header brings it or points", arguments: TestKey.allCases)
    func embedded(key: TestKey) async throws {
        let publicKey = try key.privateKey.publicKey
        let members: [(String, JSONValue)] = [
            ("jwk", publicKey.json), ("jku", "https://example.com/keys"), ("x5u", "https://example.com/chain"),
            ("x5c", ["MIIB"]), ("x5t", "AAAA"),
        ]
        for (name, value) in members {
            let compact = try await key.sign(Self.header(key).with("kid", "other").with(name, value))
            #expect(throws: JOSEError.unknownKeyID) { try Self.verify(compact) }
            let nameless = try await key.sign(Self.header(key).with("kid", nil).with(name, value))
            #expect(throws: JOSEError.unknownKeyID) { try Self.verify(nameless) }
            // Beside the right name it changes nothing.
            let right = try await key.sign(Self.header(key).with(name, value))
            #expect(try Self.verify(right).payload == Array("payload".utf8))
        }
    }

    @Test("A type that nobody checks may be any, and may be missing")
    func uncheckedType() async throws {
        for type in [nil, "JWT", "", .null, 1] as [JSONValue?] {
            let compact = try await TestKey.edDSA.sign(Self.header(.edDSA).with("typ", type))
            #expect(throws: JOSEError.unexpectedType) { try Self.verify(compact) }
            let verified = try JWS.verify(
                compact, algorithms: [.edDSA], type: .unchecked, keys: try Self.allKeys())
            #expect(verified.payload == Array("payload".utf8))
        }
    }

    @Test("Damaged texts are refused", arguments: TestKey.allCases)
    func mutations(key: TestKey) async throws {
        var generator = SeededGenerator.announced(by: "AlgorithmTests.mutations \(key.rawValue)")
        let compact = try await key.sign(Self.header(key))
        for _ in 0..<1000 {
            let damaged = String(decoding: generator.mutated(Array(compact.utf8)), as: UTF8.self)
            guard !damaged.hasSameBytes(as: compact) else { continue }
            #expect(throws: JOSEError.self, "seed \(generator.seed): \(damaged)") { try Self.verify(damaged) }
        }
    }

    /// A key that gives what it likes, as broken hardware could.
    private struct BrokenKey: JWSSigningKey {
        let jwsPublicKey: JWSPublicKey
        let signature: [UInt8]

        func jwsSignature(of input: [UInt8]) async throws -> [UInt8] { signature }
    }

    @Test("What a key gives that is no signature of its kind is not sent", arguments: TestKey.allCases)
    func brokenKeys(key: TestKey) async throws {
        let publicKey = try key.privateKey.jwsPublicKey
        for size in [0, 63, 65, 72, 255, 257] {
            let broken = BrokenKey(jwsPublicKey: publicKey, signature: [UInt8](repeating: 1, count: size))
            await #expect(throws: JOSEError.badSignature) {
                try await JWS.sign([], type: nil, by: broken, keyID: nil)
            }
        }
    }
}
