import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport

@testable import CountersignCore

/// Somebody with a key, who proves it as a client does.
struct Prover: Sendable {
    static let tokenURI = "\(World.issuer)/oauth2/token"

    let world: World
    let key: P256.Signing.PrivateKey

    init(_ world: World, key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) {
        self.world = world
        self.key = key
    }

    var thumbprint: String { key.jwsPublicKey.thumbprint }
    /// What tokens are bound to by it.
    var binding: KeyThumbprint { .key(thumbprint) }

    /// A good proof, as it is sent.
    func proof(
        _ method: String = "POST", _ uri: String = tokenURI, for token: Secret<String>? = nil, nonce: String? = nil
    ) async throws -> String {
        try await KeyProof(
            method: method, uri: uri, named: Hex.encode(world.random.bytes(16)), at: world.time.now,
            nonce: nonce ?? ProvedKey.nonce(ports: world.ports), for: token
        ).signed(by: key)
    }

    /// The key as the server has it after a good proof.
    func proved(
        _ method: String = "POST", _ uri: String = tokenURI, for token: Secret<String>? = nil
    ) async throws -> ProvedKey {
        try ProvedKey.verify(
            try await proof(method, uri, for: token), method: method, uri: uri, for: token, ports: world.ports)
    }

    /// The claims of a good proof.
    var claims: JSONObject {
        [
            "jti": .string(Hex.encode(world.random.bytes(16))), "htm": "POST", "htu": .string(Self.tokenURI),
            "iat": .integer(world.time.now.seconds), "nonce": .string(ProvedKey.nonce(ports: world.ports)),
        ]
    }

    /// The header of a good proof.
    var header: JSONObject { ["alg": "ES256", "jwk": jwk, "typ": "dpop+jwt"] }

    /// The public key.
    var jwk: JSONValue { JWK(key.publicKey).json }

    /// A proof with other members, without those that are null; a cheat signs it all the same.
    func forged(
        header changedHeader: [String: JSONValue] = [:], _ changedClaims: [String: JSONValue] = [:],
        by signer: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        func changed(_ object: JSONObject, _ changes: [String: JSONValue]) -> [UInt8] {
            var object = object
            for (name, value) in changes { object[name] = value == .null ? nil : value }
            return JSONValue.object(object).encoded
        }
        let parts = [changed(header, changedHeader), changed(claims, changedClaims)].map { Base64URL.encode($0) }
        let input = parts.joined(separator: ".")
        let signature = try (signer ?? key).signature(for: Array(input.utf8)).rawRepresentation
        return "\(input).\(Base64URL.encode(Array(signature)))"
    }
}
