import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
@Suite("A client's ID tokens are signed as its settings say, or as is usual with its profile")
struct IDTokenAlgorithmTests {
    private static let usual: JSONObject = [
        "asked_browsers": "all", "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
    ]

    private static func keys(_ scene: SignInPageScene) async throws -> JWKSet {
        try JWKSet(try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
    }

    /// The ID token that a reply has, verified by the keys that are published, and by this algorithm alone.
    @discardableResult
    private static func identity(
        _ reply: Reply, by algorithm: JWSAlgorithm, _ scene: SignInPageScene
    ) async throws -> String {
        let token = try #require(try reply.success()["id_token"]?.string, "\(reply)")
        _ = try JWS.verify(token, algorithms: [algorithm], type: .exactly("JWT"), keys: try await keys(scene))
        return token
    }

    @Test(
        "What is set is shown again where it is not what is usual with the profile",
        arguments: [
            ("web", nil, nil), ("web", "RS256", nil), ("web", "ES256", "ES256"), ("native", nil, nil),
            ("native", "ES256", nil), ("native", "RS256", "RS256"),
        ] as [(String, String?, String?)])
    func settings(_ profile: String, _ algorithm: String?, _ shown: String?) async throws {
        try await Scene.with { scene in
            let path = "/v1/admin/clients/\(scene.shop.credential.id)/openid"
            var body: JSONObject = [
                "profile": .string(profile), "redirect_uris": ["https://shop.example.com/callback"],
            ]
            body["id_token_signed_response_alg"] = algorithm.map(JSONValue.string)
            let set = try await scene.administrator.call(.PUT, path, .object(body)).success()
            #expect(set["id_token_signed_response_alg"] == shown.map(JSONValue.string), "\(set)")
            #expect(try await scene.administrator.call(.GET, path).success() == set)
            var again = try #require(set.object)
            again["client"] = nil
            #expect(try await scene.administrator.call(.PUT, path, .object(again)).success() == set)
        }
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1; RFC 9701 §5.
    @Test("A web application that chooses ES256: from codes, refreshes and CIBA, at once; hints by both count")
    func tokens() async throws {
        try await SignInPageScene.with(Self.usual) { scene in
            let signedIn = try await scene.signIn(["scope": "openid offline_access"])
            let first = try await scene.redeem(try #require(signedIn.result["code"], "\(signedIn.reply)"))
            let refresh = try #require(first.json["refresh_token"]?.string)
            func refreshed() async throws -> Reply {
                try await scene.token(
                    [("grant_type", "refresh_token"), ("refresh_token", refresh)], basic: scene.credential)
            }
            var hint = try await Self.identity(first, by: .rs256, scene)
            try await Self.identity(try await refreshed(), by: .rs256, scene)
            var settings = Self.usual
            settings["id_token_signed_response_alg"] = "ES256"
            try await scene.set(settings)
            try await Self.identity(try await refreshed(), by: .es256, scene)
            // The first of these hints is by RS256, the second by ES256.
            for _ in 0..<2 {
                let page = try await scene.browser.get(scene.request(["prompt": "none", "id_token_hint": hint]))
                let code = try #require(page.result["code"], "\(page.reply)")
                hint = try await Self.identity(try await scene.redeem(code), by: .es256, scene)
            }
            let begun = try await scene.token(
                [("scope", "openid"), ("login_hint", "customer-1@example.com")], basic: scene.credential,
                at: OAuthDoor.backchannelPath)
            try await scene.approve(begun)
            try await Self.identity(try await scene.poll(begun), by: .es256, scene)
            let state = try await scene.token(
                [("token", try #require(first.json["access_token"]?.string))], basic: scene.credential,
                at: "/oauth2/introspect", accept: "application/token-introspection+jwt")
            let text = String(decoding: state.body, as: UTF8.self)
            _ = try JWS.verify(
                text, algorithms: [.es256], type: .exactly("token-introspection+jwt"),
                keys: try await Self.keys(scene))
        }
    }
}
