import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI 2.0 Security Profile §5.3.2.3.
@Suite("Clients of the profile strict without OpenID Connect, the variant plain_oauth of the FAPI 2.0 certification")
struct StrictPlainTests {
    private static let orders = "https://orders.example/"
    private static let wanted: KeyValuePairs<String, String?> = ["scope": "read", "resource": orders, "nonce": nil]

    /// Registers an API, and lets a strict client have tokens for it.
    ///
    /// - Returns: the API's id and secret.
    private func register(
        _ scene: SignInPageScene, for settings: JSONObject
    ) async throws -> (id: String, secret: String) {
        let api = try await scene.server.makeClient("API").credential
        let own: JSONValue = [
            "profile": "web", "redirect_uris": [],
            "resource": ["identifier": .string(Self.orders), "scopes": ["read"]],
        ]
        let set = try await scene.scene.administrator.call(.PUT, "/v1/admin/clients/\(api.id)/openid", own)
        #expect(set.status == 200, "\(set)")
        var all = settings
        all["resources"] = [.string(Self.orders)]
        try await scene.set(all)
        return api
    }

    /// Expects a token for the API alone, with this binding, and nothing that says who the person is.
    private func check(
        _ tokens: JSONValue, boundTo confirmation: JSONValue, api: (id: String, secret: String),
        _ scene: SignInPageScene
    ) async throws -> String {
        #expect(tokens["id_token"] == nil && tokens["scope"] == "read", "\(tokens)")
        let access = try #require(tokens["access_token"]?.string)
        let claims = try StrictScene.claims(of: access)
        #expect(claims["aud"] == .string(Self.orders) && claims["cnf"] == confirmation, "\(claims)")
        let told = try await scene.token([("token", access)], basic: api, at: "/oauth2/introspect").success()
        #expect(told["active"] == true && told["scope"] == "read" && told["cnf"] == confirmation, "\(told)")
        return access
    }

    @Test("By assertions and proofs: a token for an API, bound to the key, and no ID token")
    func proofs() async throws {
        try await StrictScene.with { strict in
            let api = try await register(strict.scene, for: strict.settings())
            let unpushed = FormText.encoded(strict.parameters(Self.wanted))
            let plain = try await strict.scene.browser.get("/oauth2/authorize?\(unpushed)")
            #expect(plain.result["error"] == "invalid_request" && plain.result["code"] == nil, "\(plain.reply)")
            let code = try await strict.code(Self.wanted)
            expectError(try await strict.send("/oauth2/token", strict.redeemFields(code)), 400, "invalid_dpop_proof")
            let tokens = try await strict.redeem(code).success()
            #expect(tokens["token_type"] == "DPoP")
            let access = try await check(
                tokens, boundTo: ["jkt": .string(strict.key.thumbprint)], api: api, strict.scene)
            expectError(
                try await strict.key.send(.GET, "/oauth2/userinfo", token: access), 401, "invalid_token")
        }
    }

    @Test(
        "By certificates: the same, bound as the client is registered", arguments: CertifiedClient.Variant.allCases)
    func certificates(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let scene = client.strict.scene
            let api = try await register(scene, for: client.settings())
            let tokens = try await client.redeem(try await client.code(Self.wanted)).success()
            let confirmation: JSONValue =
                variant.isProved
                ? ["jkt": .string(client.strict.key.thumbprint)]
                : ["x5t#S256": .string(client.certificate.thumbprint)]
            let access = try await check(tokens, boundTo: confirmation, api: api, scene)
            if !variant.isProved {
                expectError(try await scene.show("Bearer \(access)", with: client.certificate), 401, "invalid_token")
            }
        }
    }
}
