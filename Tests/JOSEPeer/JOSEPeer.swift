import Crypto
import Encodings
import Foundation
import JOSE

/// This side of `scripts/test-jose-peers`: does what each line of standard input asks, and prints a line for each.
///
/// Lines are JSON objects; `do` says what to do. A refusal is `{"error": <the case of JOSEError>}`.
@main
struct JOSEPeer {
    static func main() async throws {
        while let line = readLine() {
            let request = try JSONValue(parsing: Array(line.utf8))
            let reply: JSONValue
            do {
                reply = try await answer(request)
            } catch let error as JOSEError {
                reply = ["error": .string("\(error)")]
            }
            FileHandle.standardOutput.write(Data(reply.encoded + [0x0A]))
        }
    }

    /// A line that the script should not have sent.
    struct Misunderstood: Error {
        let request: JSONValue
    }

    private static func answer(_ request: JSONValue) async throws -> JSONValue {
        switch request["do"] {
        case "make": return try made(request)
        case "import": return try described(try privateKey(request))
        case "read": return described(try JWK(request["key"] ?? .null))
        case "sign": return try await signed(request)
        case "verify": return try verified(request)
        default: throw Misunderstood(request: request)
        }
    }

    private static func privateKey(_ request: JSONValue) throws -> PrivateJWK {
        try PrivateJWK(importing: Secret((request["key"] ?? .null).encoded))
    }

    private static func described(_ key: JWK) -> JSONValue {
        ["public": key.json, "thumbprint": .string(key.thumbprint)]
    }

    private static func described(_ key: PrivateJWK) throws -> JSONValue {
        var object = described(key.publicKey).object ?? JSONObject()
        object["private"] = try JSONValue(parsing: key.exported().reveal())
        return .object(object)
    }

    private static func made(_ request: JSONValue) throws -> JSONValue {
        switch request["algorithm"] {
        case "ES256": return try described(PrivateJWK(P256.Signing.PrivateKey()))
        case "RS256": return try described(PrivateJWK(try RSAPrivateKey()))
        case "EdDSA": return try described(PrivateJWK(Curve25519.Signing.PrivateKey()))
        default: throw Misunderstood(request: request)
        }
    }

    private static func signed(_ request: JSONValue) async throws -> JSONValue {
        let key = try privateKey(request)
        let payload = request["payload"]?.string.flatMap { Base64URL.decode($0) }
        let jws = try await JWS.sign(
            payload ?? [], type: request["typ"]?.string, by: key, keyID: request["kid"]?.string)
        return ["jws": .string(jws)]
    }

    private static func verified(_ request: JSONValue) throws -> JSONValue {
        let names = request["algorithms"]?.array?.compactMap(\.string) ?? []
        let type = request["typ"]?.string.map { JWSType.exactly($0) } ?? .unchecked
        let verified = try JWS.verify(
            request["jws"]?.string ?? "", algorithms: Set(names.compactMap { JWSAlgorithm(rawValue: $0) }), type: type,
            keys: try JWKSet(request["keys"] ?? .null))
        return [
            "payload": .string(Base64URL.encode(verified.payload)),
            "kid": verified.key.keyID.map { .string($0) } ?? .null,
        ]
    }
}
