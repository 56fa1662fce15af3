import Crypto
import Encodings
import JOSE
import Testing

@Suite("RFC 7517 §5: sets of keys")
struct JWKSetTests {
    private static let es256 = Vectors.es256Key.publicHalf.with("kid", "es")
    private static let rs256 = Vectors.rs256Key.publicHalf.with("kid", "rs")
    private static let edDSA = Vectors.edDSAKey.publicHalf.with("kid", "ed")

    @Test("RFC 7517 §5: keys of all supported kinds are found by their names, in their order")
    func kinds() throws {
        let set = try JWKSet(["keys": [Self.es256, Self.rs256, Self.edDSA], "more": 1])
        #expect(set.keys.map(\.keyID) == ["es", "rs", "ed"])
        #expect(set["es"]?.publicKey.algorithm == .es256)
        #expect(set["rs"]?.publicKey.algorithm == .rs256)
        #expect(set["ed"]?.publicKey.algorithm == .edDSA)
        for name in ["", "ES", "es ", "other"] { #expect(set[name] == nil) }
    }

    @Test(
        "RFC 7517 §5: keys of other kinds, for other uses, or too weak are left out",
        arguments: [
            es256.with("kty", "AKP"), es256.with("crv", "P-384"), es256.with("use", "enc"),
            es256.with("alg", "ES384"), es256.with("key_ops", ["sign"]), rs256.with("alg", "PS384"),
            rs256.with("n", "gQ"), rs256.with("e", "Aw"), edDSA.with("crv", "X25519"), edDSA.with("crv", "Ed448"),
        ])
    func leftOut(key: JSONValue) throws {
        let set = try JWKSet(["keys": [key, Self.edDSA.with("kid", "kept")]])
        #expect(set.keys.map(\.keyID) == ["kept"])
    }

    @Test("A malformed key refuses the whole set, and so does what is no set")
    func malformed() {
        for key in [Self.es256.with("x", ""), Self.rs256.with("n", ""), .null, "key", 1] as [JSONValue] {
            #expect(throws: JOSEError.malformed) { try JWKSet(["keys": [Self.edDSA, key]]) }
        }
        for value in [.null, [], .members([:]), ["keys": .members([:])], ["keys": .null], ["keys": "es"]]
            as [JSONValue]
        {
            #expect(throws: JOSEError.malformed) { try JWKSet(value) }
        }
    }

    @Test("A private or symmetric key refuses the whole set: it is published now")
    func secrets() {
        let symmetric: JSONValue = ["kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ", "kid": "k"]
        for key in [Vectors.es256Key, Vectors.rs256Key, Vectors.edDSAKey, symmetric] {
            #expect(throws: JOSEError.privateKey) { try JWKSet(["keys": [Self.rs256, key]]) }
        }
    }

    @Test("RFC 7517 §4.5: two keys of one name refuse the set, whatever their kinds")
    func duplicateNames() throws {
        for other in [Self.es256, Self.rs256.with("kid", "es"), Self.edDSA.with("kid", "es")] {
            #expect(throws: JOSEError.duplicateKeyID) { try JWKSet(["keys": [Self.es256, other]]) }
        }
        // One that is left out takes no name, and keys without a name share none.
        let left = Self.rs256.with("kid", "es").with("alg", "PS384")
        #expect(try JWKSet(["keys": [Self.es256, left]]).keys.count == 1)
        let nameless = [Self.es256.with("kid", nil), Self.rs256.with("kid", nil), Self.edDSA]
        let set = try JWKSet(["keys": .array(nameless)])
        #expect(set.keys.count == 3)
        #expect(set[""] == nil)
    }

    @Test("A set comes back from JSON, and has a limit")
    func limits() throws {
        let keys = (0..<3).map { _ in JWK(P256.Signing.PrivateKey().publicKey) }
        #expect(try JWKSet(JWKSet(keys).json).keys.map(\.keyID) == keys.map(\.keyID))
        #expect(try JWKSet(["keys": []]).keys.isEmpty)
        let most = (0..<JWKSet.maximumCount).map { Self.es256.with("kid", .string("\($0)")) }
        #expect(try JWKSet(["keys": .array(most)]).keys.count == 64)
        #expect(throws: JOSEError.tooLarge) { try JWKSet(["keys": .array(most + [Self.es256])]) }
    }

    @Test("Names of keys are compared by bytes")
    func names() throws {
        let set = try JWKSet(["keys": [Self.es256.with("kid", "e\u{301}"), Self.rs256.with("kid", "\u{E9}")]])
        #expect(set["e\u{301}"]?.publicKey.algorithm == .es256)
        #expect(set["\u{E9}"]?.publicKey.algorithm == .rs256)
        #expect(set["e"] == nil)
    }
}
