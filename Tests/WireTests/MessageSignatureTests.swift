import CountersignWire
import Crypto
import Encodings
import OpenPGP
import Testing

@Suite("The signature of a request")
struct MessageSignatureTests {
    private let forge = SignatureForge()

    @Test("RFC 9421 §4: what is signed has the fields of the profile, and verifies")
    func signs() async throws {
        let parameters = SignatureParameters(created: 1_795_169_702, nonce: "abcdefghijklmnop", keyID: "enr_1")
        let fields = try await parameters.sign(SignatureForge.request, with: forge.key)
        let names = #"("@method" "@target-uri" "content-digest" "authorization")"#
        #expect(fields.input == "sig=\(names)\(SignatureForge.parameters)")
        #expect(fields.signature.wholeMatch(of: /sig=:[A-Za-z0-9+\/]{86}==:/) != nil)
        try forge.verify(fields)
        let read = try UnverifiedRequestSignature(input: fields.input, signature: fields.signature)
        #expect(read.parameters == parameters)
    }

    @Test("A request without body and authorization covers method and URI alone")
    func bare() async throws {
        let request = SignedRequest(
            method: "GET", targetURI: "https://login.example.com/v1/device", contentDigest: nil, authorization: nil)
        let parameters = SignatureParameters(created: 0, nonce: "0123456789abcdef", keyID: "k")
        let fields = try await parameters.sign(request, with: forge.key)
        #expect(fields.input.hasPrefix(#"sig=("@method" "@target-uri");created=0;"#))
        try forge.verify(fields, request, body: [])
        #expect(throws: MessageSignatureError.coverage("content-digest")) {
            try forge.verify(fields, request, body: [1])
        }
    }

    @Test("RFC 9421 §2.5: components and parameters may stand in any order, which is signed with them")
    func order() throws {
        let parameters = #";tag="countersign";alg="ecdsa-p256-sha256";keyid="enr_1";nonce="abcdefghijklmnop";created=1"#
        try forge.verify(try forge.fields(SignatureForge.components.reversed(), parameters))
        var fields = try forge.fields()
        fields.input = fields.input.replacing(#""@method" "@target-uri""#, with: #""@target-uri" "@method""#)
        #expect(throws: MessageSignatureError.invalid) { try forge.verify(fields) }
        fields = try forge.fields()
        fields.input = "sig=" + #"("@method" "@target-uri" "content-digest" "authorization")"# + parameters
        #expect(throws: MessageSignatureError.invalid) { try forge.verify(fields) }
    }

    @Test("RFC 9651 §4.2: blanks that the syntax allows change nothing, and neither does the label")
    func blanks() throws {
        var fields = try forge.fields()
        fields.input = " " + fields.input.replacing("(", with: "(  ").replacing(";", with: "; ") + " "
        fields.signature = " \(fields.signature)  "
        try forge.verify(fields)
        fields.input = fields.input.replacing("sig=", with: "other=")
        #expect(throws: MessageSignatureError.malformed) { try forge.verify(fields) }
        fields.signature = fields.signature.replacing("sig=", with: "other=")
        try forge.verify(fields)
    }

    @Test(
        "What was signed is exactly this request",
        arguments: [
            SignedRequest(
                method: "PUT", targetURI: SignatureForge.request.targetURI, contentDigest: SignatureForge.digest,
                authorization: "Bearer abc"),
            SignedRequest(
                method: "post", targetURI: SignatureForge.request.targetURI, contentDigest: SignatureForge.digest,
                authorization: "Bearer abc"),
            SignedRequest(
                method: "POST", targetURI: "https://login.example.com/v1/challenges/pending?wait=21",
                contentDigest: SignatureForge.digest, authorization: "Bearer abc"),
            SignedRequest(
                method: "POST", targetURI: "https://login.example.com/v1/challenges/pending",
                contentDigest: SignatureForge.digest, authorization: "Bearer abc"),
            SignedRequest(
                method: "POST", targetURI: "https://login.example.org/v1/challenges/pending?wait=20",
                contentDigest: SignatureForge.digest, authorization: "Bearer abc"),
            SignedRequest(
                method: "POST", targetURI: SignatureForge.request.targetURI, contentDigest: SignatureForge.digest,
                authorization: "Bearer abd"),
            SignedRequest(
                method: "POST", targetURI: SignatureForge.request.targetURI,
                contentDigest: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", authorization: "Bearer abc"),
        ])
    func otherRequest(request: SignedRequest) throws {
        let fields = try forge.fields()
        #expect(throws: MessageSignatureError.invalid) { try forge.verify(fields, request) }
    }

    @Test(
        "No parameter can be changed after signing",
        arguments: [
            ("1795169702", "1795169703"), ("abcdefghijklmnop", "abcdefghijklmnoq"), ("enr_1", "enr_2"),
        ])
    func changedParameter(old: String, new: String) throws {
        var fields = try forge.fields()
        fields.input = fields.input.replacing(old, with: new)
        #expect(throws: MessageSignatureError.invalid) { try forge.verify(fields) }
    }

    @Test("Another key's signature is refused")
    func otherKey() throws {
        let fields = try forge.fields()
        #expect(throws: MessageSignatureError.invalid) {
            try forge.verify(fields, by: P256.Signing.PrivateKey().publicKey)
        }
    }

    @Test("RFC 9530 §2: the body must be the one whose digest was signed")
    func otherBody() throws {
        let fields = try forge.fields()
        #expect(throws: MessageSignatureError.digest) { try forge.verify(fields, body: SignatureForge.body + [0x20]) }
        #expect(throws: MessageSignatureError.coverage("content-digest")) { try forge.verify(fields, body: []) }
    }

    @Test(
        "A digest by another algorithm alone is none, though it was signed",
        arguments: ["sha-512=:AAAA:", "sha-256=?1", "sha-256", "SHA-256=:AAAA:", "x"])
    func otherDigest(digest: String) throws {
        var components = SignatureForge.components
        components[2].1 = digest
        let request = SignedRequest(
            method: "POST", targetURI: SignatureForge.request.targetURI, contentDigest: digest,
            authorization: "Bearer abc")
        let fields = try forge.fields(components)
        #expect(throws: MessageSignatureError.digest) { try forge.verify(fields, request) }
    }
}
