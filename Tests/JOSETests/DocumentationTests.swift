import Crypto
import Encodings
import JOSE
import Testing

@Suite("The examples of the documentation do what it says")
struct DocumentationTests {
    /// A key in something that stands for hardware: all that the protocol asks for.
    private struct EnclaveKey: JWSSigningKey {
        let key: P256.Signing.PrivateKey

        var jwsPublicKey: JWSPublicKey { .p256(key.publicKey) }

        func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
            Array(try key.signature(for: input).rawRepresentation)
        }
    }

    @Test("Signing, publishing, verifying and keeping")
    func overview() async throws {
        let key = PrivateJWK(P256.Signing.PrivateKey())
        let content = Array("{\"sub\":\"user-1\"}".utf8)
        let jws = try await JWS.sign(content, type: "example+jwt", by: key, keyID: key.keyID)

        let published = JWKSet([key.publicKey]).json.encoded

        let keys = try JWKSet(try JSONValue(parsing: published))
        let verified = try JWS.verify(jws, algorithms: [.es256], type: .exactly("example+jwt"), keys: keys)
        #expect(verified.payload == content)

        let kept = key.exported()
        let again = try PrivateJWK(importing: kept)
        #expect(again.keyID == key.keyID)
        #expect("\(kept)" == "•••")
    }

    @Test("A key in hardware")
    func hardware() async throws {
        let key = EnclaveKey(key: P256.Signing.PrivateKey())
        let jws = try await JWS.sign([1], type: "example+jwt", by: key, keyID: "enclave")
        let keys = JWKSet([JWK(key.jwsPublicKey, keyID: "enclave")])
        let verified = try JWS.verify(jws, algorithms: [.es256], type: .exactly("example+jwt"), keys: keys)
        #expect(verified.payload == [1])
    }

    @Test("An ES256 signature has a twin that verifies as well: a JWS is no name for what it says")
    func malleability() async throws {
        let key = PrivateJWK(P256.Signing.PrivateKey())
        let jws = try await JWS.sign([1], type: "x", by: key, keyID: key.keyID)
        let parts = jws.split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        let order = try #require(
            Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
        // n − s, in place of s.
        var (difference, borrow) = ([UInt8](repeating: 0, count: 32), 0)
        for index in (0..<32).reversed() {
            let digit = Int(order[index]) - Int(signature[32 + index]) - borrow
            (difference[index], borrow) = (UInt8(truncatingIfNeeded: digit), digit < 0 ? 1 : 0)
        }
        let twin = "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature.prefix(32) + difference))"
        #expect(twin != jws)
        let keys = JWKSet([key.publicKey])
        #expect(try JWS.verify(twin, algorithms: [.es256], type: .exactly("x"), keys: keys).payload == [1])
    }
}
