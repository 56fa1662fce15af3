import Crypto
import CryptoExtras
import Encodings
@testable import JOSE
import Testing

@Suite("RFC 7518 §3.5: RSA signatures by PSS")
struct PSSTests {
    private static let key: JSONValue = Vectors.rs256Key.publicHalf.with("kid", "rsa")
    private static let pss: JSONValue = key.with("alg", "PS256")
    private static let payload = Array("payload".utf8)

    /// Signs by the RSA key of the specification.
    private func sign(
        _ header: JSONValue = ["alg": "PS256", "kid": "rsa"], padding: _RSA.Signing.Padding = .PSS
    ) throws -> String {
        let key = try RSAPrivateKey(derRepresentation: try Self.der())
        let signer = try _RSA.Signing.PrivateKey(derRepresentation: key.derRepresentation.reveal())
        let input = "\(Base64URL.encode(header.encoded)).\(Base64URL.encode(Self.payload))"
        let signature = try signer.signature(for: SHA256.hash(data: Array(input.utf8)), padding: padding)
        return "\(input).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    private static func der() throws -> Secret<[UInt8]> {
        var numbers: [[UInt8]] = []
        for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] {
            numbers.append(try #require(Vectors.rs256Key[name]?.string.flatMap { Base64URL.decode($0) }))
        }
        return Secret(PKCS1.encode(numbers))
    }

    private func verify(
        _ compact: String, by key: JSONValue = pss, _ algorithms: Set<JWSAlgorithm> = [.ps256, .rs256]
    ) throws -> [UInt8] {
        try JWS.verify(compact, algorithms: algorithms, type: .unchecked, keys: JWKSet(["keys": [key]])).payload
    }

    @Test("A key whose `alg` is PS256 verifies by PSS alone, and is the same key in JSON again")
    func verifies() throws {
        #expect(try verify(try sign()) == Self.payload)
        let read = try JWK(Self.pss)
        #expect(read.publicKey.algorithm == .ps256 && read.json["alg"] == "PS256")
        #expect(try JWK(read.json).publicKey.algorithm == .ps256)
        #expect(try read.thumbprint == JWK(Self.key).thumbprint)
        let rs256 = try sign(["alg": "RS256", "kid": "rsa"], padding: .insecurePKCS1v1_5)
        #expect(throws: JOSEError.wrongKey) { try verify(rs256) }
        #expect(throws: JOSEError.unexpectedAlgorithm) { try verify(rs256, by: Self.pss, [.ps256]) }
        #expect(try verify(rs256, by: Self.key) == Self.payload)
    }

    @Test("RFC 8725 §3.1: a key without `alg`, or for RS256, verifies nothing by PSS")
    func otherKeys() throws {
        let compact = try sign()
        for key in [Self.key, Self.key.with("alg", "RS256")] {
            #expect(throws: JOSEError.wrongKey) { try verify(compact, by: key) }
        }
        #expect(throws: JOSEError.unexpectedAlgorithm) { try verify(compact, by: Self.pss, [.rs256]) }
    }

    @Test("The other padding, a changed bit and another length are refused")
    func damaged() throws {
        #expect(throws: JOSEError.badSignature) { try verify(try sign(padding: .insecurePKCS1v1_5)) }
        let parts = try sign().split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: JOSEError.badSignature, "byte \(index)") {
                try verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(other))")
            }
        }
        for other in [[], Array(signature.dropLast()), signature + [0]] {
            #expect(throws: JOSEError.malformed) {
                try verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(other))")
            }
        }
    }

    @Test("No private key of ours signs by PSS")
    func importing() throws {
        let json = Vectors.rs256Key.with("alg", "PS256").encoded
        #expect(throws: JOSEError.unsupportedKey) { try PrivateJWK(importing: Secret(json)) }
    }
}
