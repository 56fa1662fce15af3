import Crypto
import Encodings
import JOSE
import Testing

@Suite("The examples of RFC 7515, 7517, 7638 and 8037")
struct VectorTests {
    private static let payload = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"

    @Test(
        "RFC 7515 A.2, A.3, RFC 8037 A.4: the signature of the example is one by its key, over its content",
        arguments: [
            (TestKey.rs256, Vectors.rs256, payload), (.es256, Vectors.es256, payload),
            (.edDSA, Vectors.edDSA, "Example of Ed25519 signing"),
        ])
    func verifying(key: TestKey, compact: String, payload: String) throws {
        let jwk = try JWK(key.json.publicHalf)
        let verified = try JWS.verify(compact, algorithms: [try key.algorithm], type: .unchecked, key: jwk)
        #expect(verified.payload == Array(payload.utf8))
        #expect(verified.header.members.map(\.name) == ["alg"])
        // The example names neither its type nor its key: only who asks for neither accepts that.
        #expect(throws: JOSEError.unexpectedType) {
            try JWS.verify(compact, algorithms: [try key.algorithm], type: .exactly("JWT"), key: jwk)
        }
        #expect(throws: JOSEError.unknownKeyID) {
            try JWS.verify(compact, algorithms: [try key.algorithm], type: .unchecked, keys: JWKSet([jwk]))
        }
    }

    @Test(
        "RFC 7515 A.2, RFC 8037 A.4: the key of the example makes the very JWS of the example",
        arguments: [
            (TestKey.rs256, Vectors.rs256, payload), (.edDSA, Vectors.edDSA, "Example of Ed25519 signing"),
        ])
    func signing(key: TestKey, compact: String, payload: String) async throws {
        let made = try await JWS.sign(Array(payload.utf8), type: nil, by: try key.privateKey, keyID: nil)
        #expect(made == compact)
    }

    @Test("RFC 7515 A.3: the key of the example signs what its public half verifies")
    func signingES256() async throws {
        let made = try await JWS.sign(
            Array(Self.payload.utf8), type: nil, by: try TestKey.es256.privateKey, keyID: nil)
        // ECDSA is different each time; header and content are those of the example.
        #expect(made.split(separator: ".").prefix(2) == Vectors.es256.split(separator: ".").prefix(2))
        let verified = try JWS.verify(
            made, algorithms: [.es256], type: .unchecked, key: try JWK(Vectors.es256Key.publicHalf))
        #expect(verified.payload == Array(Self.payload.utf8))
    }

    @Test("RFC 7515 A.2, A.3, RFC 8037 A.4: each example with one bit of its signature changed is refused")
    func tampered() throws {
        for (key, compact) in [
            (TestKey.rs256, Vectors.rs256), (.es256, Vectors.es256), (.edDSA, Vectors.edDSA),
        ] {
            let parts = compact.split(separator: ".").map(String.init)
            var signature = try #require(Base64URL.decode(parts[2]))
            signature[20] ^= 1
            let other = "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))"
            #expect(throws: JOSEError.badSignature) {
                try JWS.verify(
                    other, algorithms: [try key.algorithm], type: .unchecked, key: try JWK(key.json.publicHalf))
            }
        }
    }

    @Test("RFC 7517 A.1: of the example's keys the one for signatures is read, the one for encryption left out")
    func publicSet() throws {
        let set = try JWKSet(["keys": [Vectors.encryptionKey.publicHalf, Vectors.rsaKey.publicHalf]])
        #expect(set.keys.map(\.keyID) == ["2011-04-29"])
        #expect(set["2011-04-29"]?.publicKey.algorithm == .rs256)
        #expect(throws: JOSEError.unsupportedKey) { try JWK(Vectors.encryptionKey.publicHalf) }
    }

    @Test("RFC 7517 A.2: the example's private keys are read and written as they are, and never as public ones")
    func privateSet() throws {
        let rsa = try PrivateJWK(importing: Secret(Vectors.rsaKey.encoded))
        #expect(rsa.keyID == "2011-04-29")
        #expect(try JSONValue(parsing: rsa.exported().reveal()) == Vectors.rsaKey.with("use", "sig"))
        #expect(throws: JOSEError.unsupportedKey) {
            try PrivateJWK(importing: Secret(Vectors.encryptionKey.encoded))
        }
        let signing = Vectors.encryptionKey.with("use", "sig").with("alg", "ES256")
        let exported = try PrivateJWK(importing: Secret(signing.encoded)).exported()
        #expect(try JSONValue(parsing: exported.reveal()) == signing)
        for key in [Vectors.rsaKey, signing] {
            #expect(throws: JOSEError.privateKey) { try JWK(key) }
            #expect(throws: JOSEError.privateKey) { try JWKSet(["keys": [key]]) }
        }
    }

    @Test("RFC 7638 §3, §3.1, §3.2: the thumbprint of the example, made of what makes the key and of nothing else")
    func thumbprint() throws {
        let key = try JWK(Vectors.rsaKey.publicHalf)
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.keyID == "2011-04-29")
        #expect(JWK(key.publicKey).keyID == key.thumbprint)
        for (name, value) in [("kid", "other"), ("use", "sig"), ("a", "b")] as [(String, JSONValue)] {
            #expect(try JWK(Vectors.rsaKey.publicHalf.with(name, value)).thumbprint == key.thumbprint)
        }
    }

    @Test("RFC 8037 A.1, A.2: the example's private key has the example's public key")
    func edDSAKeys() throws {
        let key = try PrivateJWK(importing: Secret(Vectors.edDSAKey.encoded))
        #expect(key.publicKey.json["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        #expect(key.publicKey.json["d"] == nil)
        let other = Vectors.edDSAKey.with("d", .string(Base64URL.encode([UInt8](repeating: 7, count: 32))))
        #expect(throws: JOSEError.malformed) { try PrivateJWK(importing: Secret(other.encoded)) }
    }

    @Test("RFC 8037 A.3: the thumbprint of the example")
    func edDSAThumbprint() throws {
        #expect(
            try JWK(Vectors.edDSAKey.publicHalf).thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test("RFC 9449 §6.1: the thumbprint of a P-256 key")
    func es256Thumbprint() throws {
        let key = try JWK([
            "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        ])
        #expect(key.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(key.keyID == nil)
    }
}
