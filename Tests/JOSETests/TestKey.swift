import Crypto
import Encodings
import JOSE
import Testing

/// A key of each kind, from the specifications, with which a test can sign any header.
enum TestKey: String, CaseIterable, CustomTestStringConvertible {
    case es256 = "ES256"
    case rs256 = "RS256"
    case edDSA = "EdDSA"

    /// The private key as JSON.
    var json: JSONValue {
        switch self {
        case .es256: Vectors.es256Key
        case .rs256: Vectors.rs256Key
        case .edDSA: Vectors.edDSAKey
        }
    }

    /// The private key, named after its algorithm.
    var privateKey: PrivateJWK {
        get throws { try PrivateJWK(importing: Secret(json.with("kid", .string(rawValue)).encoded)) }
    }

    /// A JWS with any header, its signature right.
    func sign(_ header: JSONValue, _ payload: [UInt8] = Array("payload".utf8)) async throws -> String {
        let input = "\(Base64URL.encode(header.encoded)).\(Base64URL.encode(payload))"
        let signature = try await privateKey.jwsSignature(of: Array(input.utf8))
        return "\(input).\(Base64URL.encode(signature))"
    }

    /// The algorithm.
    var algorithm: JWSAlgorithm {
        get throws { try #require(JWSAlgorithm(rawValue: rawValue)) }
    }

    var testDescription: String { rawValue }
}
