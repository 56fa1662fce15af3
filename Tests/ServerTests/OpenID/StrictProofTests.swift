import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// How a proof differs from a good one; null leaves a member out.
private struct Lie {
    var header: [String: JSONValue] = [:]
    var claims: [String: JSONValue] = [:]
    var isByStranger = false
}

extension StrictScene {
    fileprivate static let clientToken = [("grant_type", "client_credentials")]

    /// A nonce that the server takes now.
    fileprivate func nonce() async throws -> String {
        let reply = try await post("/oauth2/token", Self.clientToken, try proof(.POST, "/oauth2/token", nonce: ""))
        expectError(reply, 400, "use_dpop_nonce")
        return try #require(reply.headers["dpop-nonce"], "\(reply)")
    }

    /// A proof by the client's key; whoever has a key can sign what they want.
    fileprivate func proof(
        _ method: HTTPMethod, _ path: String, nonce: String, for token: String? = nil, _ lie: Lie = Lie()
    ) throws -> String {
        var header: JSONObject = ["alg": "ES256", "jwk": JWK(key.key.publicKey).json, "typ": "dpop+jwt"]
        var claims: JSONObject = [
            "jti": .string("\(UInt64.random(in: 0...(.max)))"), "htm": .string(method.rawValue),
            "htu": .string(issuer + path), "iat": .integer(scene.server.clock.now.seconds), "nonce": .string(nonce),
        ]
        if let token { claims["ath"] = .string(KeyProof.hash(of: token)) }
        for (name, value) in lie.header { header[name] = value == .null ? nil : value }
        for (name, value) in lie.claims { claims[name] = value == .null ? nil : value }
        let parts = [header, claims].map { Base64URL.encode(JSONValue.object($0).encoded) }
        let input = parts.joined(separator: ".")
        let signer = lie.isByStranger ? P256.Signing.PrivateKey() : key.key
        let signature = try signer.signature(for: Array(input.utf8)).rawRepresentation
        return "\(input).\(Base64URL.encode(Array(signature)))"
    }

    /// Sends a form with an assertion and this proof.
    fileprivate func post(_ path: String, _ fields: [(String, String)], _ proof: String) async throws -> Reply {
        let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        let all = fields + [("client_assertion_type", type), ("client_assertion", try await assertion())]
        return try await scene.server.send(
            .POST, path, headers: [("Content-Type", "application/x-www-form-urlencoded"), ("DPoP", proof)],
            body: Array(FormText.encoded(all).utf8), isContract: false)
    }

    /// Asks who the user of a token is.
    fileprivate func show(_ token: String, _ proof: String) async throws -> Reply {
        try await scene.server.send(
            .GET, "/oauth2/userinfo", headers: [("Authorization", "DPoP \(token)"), ("DPoP", proof)],
            isContract: false)
    }
}

// Spec: FAPI 2.0 Security Profile §5.3.2.1; RFC 9449 §4.2, §4.3, §11.1, §11.5.
@Suite("Proofs of clients of the profile strict, by the modules of the FAPI 2.0 certification")
struct StrictProofTests {
    /// What is no proof for a request, whatever it is sent to.
    private func lies(_ strict: StrictScene) throws -> [(String, Lie)] {
        let now = strict.scene.server.clock.now.seconds
        var privateKey = try #require(JWK(strict.key.key.publicKey).json.object)
        privateKey["d"] = .string(Base64URL.encode(Array(strict.key.key.rawRepresentation)))
        let symmetric: JSONValue = ["kty": "oct", "k": .string(Base64URL.encode(Array("secret".utf8)))]
        let headers: [(String, [String: JSONValue])] = [
            ("no typ", ["typ": .null]), ("another typ", ["typ": "JWT"]), ("no alg", ["alg": .null]),
            ("alg none", ["alg": "none"]), ("a symmetric alg", ["alg": "HS256"]),
            ("a symmetric key", ["alg": "HS256", "jwk": symmetric]), ("another alg", ["alg": "RS256"]),
            ("no key", ["jwk": .null]), ("a private key", ["jwk": .object(privateKey)]),
            ("another's key", ["jwk": JWK(P256.Signing.PrivateKey().publicKey).json]),
        ]
        let claims: [(String, [String: JSONValue])] = [
            ("no jti", ["jti": .null]), ("no htm", ["htm": .null]), ("no htu", ["htu": .null]),
            ("no iat", ["iat": .null]), ("another method", ["htm": "PUT"]),
            ("another endpoint", ["htu": .string("\(strict.issuer)/oauth2/introspect")]),
            ("another server", ["htu": "https://other.example.com/oauth2/token"]),
            ("too old", ["iat": .integer(now - 61)]), ("of the future", ["iat": .integer(now + 61)]),
            ("over", ["exp": .integer(now)]), ("not yet good", ["nbf": .integer(now + 61)]),
        ]
        return headers.map { ($0, Lie(header: $1)) } + claims.map { ($0, Lie(claims: $1)) }
            + [("signed by another key", Lie(isByStranger: true))]
    }

    // Modules: check-dpop-proof-nbf-exp, dpop-negative-tests
    @Test("fapi2-security-profile-final-dpop-negative-tests: each check, at the token endpoint and at userinfo")
    func refused() async throws {
        try await StrictScene.with { strict in
            // What is a second too far off stays so, however long the requests take.
            try await strict.scene.server.clock.stopped { _ in
                let code = try await strict.code()
                let (nonce, fields) = (try await strict.nonce(), strict.redeemFields(code))
                func redeem(_ lie: Lie, _ nonce: String) async throws -> Reply {
                    try await strict.post(
                        "/oauth2/token", fields, try strict.proof(.POST, "/oauth2/token", nonce: nonce, lie))
                }
                let lies = try self.lies(strict)
                for (what, lie) in lies {
                    let reply = try await redeem(lie, nonce)
                    #expect(
                        reply.status == 400 && reply.json["error"] == "invalid_dpop_proof", "\(what): \(reply)")
                }
                for wrong in [Lie(claims: ["nonce": .null]), Lie(claims: ["nonce": "x"])] {
                    expectError(try await redeem(wrong, nonce), 400, "use_dpop_nonce")
                }
                // None of them has spent the code.
                let tokens = try await redeem(Lie(), nonce).success()
                let access = try #require(tokens["access_token"]?.string)
                func show(_ lie: Lie, for token: String?) async throws -> Reply {
                    try await strict.show(
                        access, try strict.proof(.GET, "/oauth2/userinfo", nonce: nonce, for: token, lie))
                }
                for (what, lie) in lies {
                    let reply = try await show(lie, for: access)
                    #expect(
                        reply.status == 401 && reply.json["error"] == "invalid_dpop_proof", "\(what): \(reply)")
                }
                for other in [nil, "another token"] {
                    expectError(try await show(Lie(), for: other), 401, "invalid_dpop_proof")
                }
                expectError(try await show(Lie(claims: ["nonce": .null]), for: access), 401, "use_dpop_nonce")
                #expect(try await show(Lie(), for: access).status == 200)
            }
        }
    }

    // Modules: check-dpop-proof-nbf-exp, ensure-dpopproof-with-iat-10seconds-before-succeeds,
    // ensure-dpopproof-with-iat-10seconds-after-succeeds
    @Test(
        """
        fapi2-security-profile-final-check-dpop-proof-nbf-exp, -ensure-dpopproof-with-iat-10seconds-before-succeeds and \
        -after-succeeds: at each endpoint
        """)
    func accepted() async throws {
        try await StrictScene.with { strict in
            // What is a second too far off stays so, however long the requests take.
            try await strict.scene.server.clock.stopped { _ in
                let code = try await strict.code()
                let (nonce, now) = (try await strict.nonce(), strict.scene.server.clock.now.seconds)
                let access = try #require(try await strict.redeem(code).success()["access_token"]?.string)
                let others: [[String: JSONValue]] = [
                    ["nbf": .integer(now), "exp": .integer(now + 300)], ["iat": .integer(now - 10)],
                    ["iat": .integer(now + 10)],
                ]
                for claims in others {
                    let lie = Lie(claims: claims)
                    let pushed = try await strict.post(
                        "/oauth2/par", strict.parameters(), try strict.proof(.POST, "/oauth2/par", nonce: nonce, lie))
                    #expect(pushed.status == 201, "\(claims): \(pushed)")
                    let given = try await strict.post(
                        "/oauth2/token", StrictScene.clientToken,
                        try strict.proof(.POST, "/oauth2/token", nonce: nonce, lie))
                    #expect(given.status == 200 && given.json["token_type"] == "DPoP", "\(claims): \(given)")
                    let shown = try await strict.show(
                        access, try strict.proof(.GET, "/oauth2/userinfo", nonce: nonce, for: access, lie))
                    #expect(shown.status == 200, "\(claims): \(shown)")
                }
            }
        }
    }

    @Test("RFC 9449 §11.1: of a proof's name a hash is kept: a long one counts whole, and once")
    func longName() async throws {
        try await StrictScene.with { strict in
            try await strict.scene.server.clock.stopped { _ in
                let nonce = try await strict.nonce()
                let name = String(repeating: "j", count: 2000)
                func give(_ name: String) async throws -> Reply {
                    let proof = try strict.proof(
                        .POST, "/oauth2/token", nonce: nonce, Lie(claims: ["jti": .string(name)]))
                    return try await strict.post("/oauth2/token", StrictScene.clientToken, proof)
                }
                #expect(try await give(name).status == 200)
                expectError(try await give(name), 400, "invalid_dpop_proof")
                #expect(try await give("\(name)k").status == 200)
            }
        }
    }
}
