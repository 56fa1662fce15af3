import Crypto
import Encodings
import Testing

@testable import CountersignWire

/// Makes the two fields of a signed request from whatever components and parameters a test wants, the signature right.
struct SignatureForge {
    static let parameters =
        #";created=1795169702;nonce="abcdefghijklmnop";keyid="enr_1""#
        + #";alg="ecdsa-p256-sha256";tag="countersign""#
    static let body = Array(#"{"hello": "world"}"#.utf8)
    static let digest = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
    static let request = SignedRequest(
        method: "POST", targetURI: "https://login.example.com/v1/challenges/pending?wait=20", contentDigest: digest,
        authorization: "Bearer abc")
    static let components = [
        ("@method", "POST"), ("@target-uri", "https://login.example.com/v1/challenges/pending?wait=20"),
        ("content-digest", digest), ("authorization", "Bearer abc"),
    ]

    let key = P256.Signing.PrivateKey()

    /// The values of `Signature-Input` and `Signature`.
    func fields(
        _ components: [(String, String)] = components, _ parameters: String = parameters
    ) throws -> (input: String, signature: String) {
        let list = "(\(components.map { "\"\($0.0)\"" }.joined(separator: " ")))\(parameters)"
        let base = SignatureBase(components: components.map { (name: $0.0, value: $0.1) }, parameters: list)
        return ("sig=\(list)", "sig=:\(try signature(over: base.bytes)):")
    }

    /// A raw signature in base 64.
    func signature(over base: [UInt8]) throws -> String {
        Base64.encode(try key.signature(for: SHA256.hash(data: base)).rawRepresentation)
    }

    /// Reads and verifies fields against a request.
    func verify(
        _ fields: (input: String, signature: String), _ request: SignedRequest = request, body: [UInt8] = body,
        by key: P256.Signing.PublicKey? = nil
    ) throws(MessageSignatureError) {
        try UnverifiedRequestSignature(input: fields.input, signature: fields.signature)
            .verify(request, body: body, by: key ?? self.key.publicKey)
    }
}
