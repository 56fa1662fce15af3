import Crypto
import Encodings
import OpenPGP
import Testing

@testable import CountersignWire

@Suite("RFC 9421: the text that a signature is made over")
struct SignatureBaseTests {
    private static let vectorInput =
        #"("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#
    private static let vectorSignature =
        "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw=="

    @Test("RFC 9421 §2.5: a line for each component, then the parameters, separated by LF")
    func base() {
        let base = SignatureBase(
            components: SignatureForge.components.map { (name: $0.0, value: $0.1) }, parameters: "()")
        let expected = [
            #""@method": POST"#, #""@target-uri": https://login.example.com/v1/challenges/pending?wait=20"#,
            #""content-digest": sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"#,
            #""authorization": Bearer abc"#, #""@signature-params": ()"#,
        ]
        #expect(base.bytes == Array(expected.joined(separator: "\n").utf8))
        #expect(SignatureBase(components: [], parameters: "()").bytes == Array(#""@signature-params": ()"#.utf8))
    }

    @Test("RFC 9421 B.2.4: the signature of the example is by its key over the base we build")
    func vector() throws {
        let spki =
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4F"
            + "ivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ=="
        let key = try P256.Signing.PublicKey(derRepresentation: try #require(Base64.decode(spki)))
        let digest =
            "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:"
        var components = [
            (name: "@status", value: "200"), (name: "content-type", value: "application/json"),
            (name: "content-digest", value: digest), (name: "content-length", value: "23"),
        ]
        let raw = try #require(Base64.decode(Self.vectorSignature))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        let base = SignatureBase(components: components, parameters: Self.vectorInput)
        #expect(key.isValidSignature(signature, for: SHA256.hash(data: base.bytes)))
        components[0].value = "201"
        let other = SignatureBase(components: components, parameters: Self.vectorInput)
        #expect(!key.isValidSignature(signature, for: SHA256.hash(data: other.bytes)))
    }

    @Test("RFC 9421 B.2.4: the example itself is not of the profile, which wants a tag")
    func vectorRefused() {
        #expect(throws: MessageSignatureError.parameter("tag")) {
            try UnverifiedRequestSignature(
                input: "sig-b24=\(Self.vectorInput)", signature: "sig-b24=:\(Self.vectorSignature):")
        }
    }

    @Test("RFC 9421 B.1.3: the example's private key makes signatures that its public key verifies")
    func vectorKey() async throws {
        let scalar = try #require(Base64URL.decode("UpuF81l-kOxbjf7T4mNSv0r5tN67Gim7rnf6EFpcYDs"))
        let key = try P256.Signing.PrivateKey(rawRepresentation: scalar)
        let parameters = SignatureParameters(
            created: 1_618_884_473, nonce: "abcdefghijklmnop", keyID: "test-key-ecc-p256")
        let fields = try await parameters.sign(SignatureForge.request, with: key)
        try SignatureForge().verify(fields, by: key.publicKey)
    }
}
