import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter: tokens are refreshed")
struct CotterTokenTests {
    /// The tokens of a person.
    private static func tokens(_ scene: CotterScene) async throws -> JSONValue {
        let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
        return try #require(try await scene.identity(scene.redemption(result)).success()["oauth_token"])
    }

    private static func body(_ tokens: JSONValue) -> JSONValue {
        ["grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] ?? .null]
    }

    @Test("By either path; each token has a successor, and the one before is good for a moment")
    func refreshes() async throws {
        try await CotterScene.with { scene in
            var tokens = try await Self.tokens(scene)
            for path in ["/token", "/token/\(scene.key)", "/token/\(try #require(ClientID(scene.key)).uuid)"] {
                let next = try await scene.post(path, Self.body(tokens)).success()
                #expect(
                    next.object?.members.map(\.name) == [
                        "access_token", "id_token", "refresh_token", "expires_in", "token_type", "auth_method",
                    ])
                #expect(next["refresh_token"] != tokens["refresh_token"] && next["auth_method"] == "OTP")
                let repeated = try await scene.post(path, Self.body(tokens)).success()
                #expect(repeated["refresh_token"] == next["refresh_token"])
                let info = try await scene.userinfo(try #require(next["access_token"]?.string)).success()
                #expect(info["email"] == "putri@example.com")
                tokens = next
            }
        }
    }

    @Test("A token that was replaced before ends all, as Cotter's SDK for iOS would have it")
    func replaced() async throws {
        try await CotterScene.with { scene in
            let first = try await Self.tokens(scene)
            let second = try await scene.post("/token", Self.body(first)).success()
            scene.server.clock.advance(.hours(1))
            expectMessage(try await scene.post("/token", Self.body(first)), 400, "The refresh token is not valid")
            expectMessage(try await scene.post("/token", Self.body(second)), 400, "The refresh token is not valid")
        }
    }

    @Test("Another grant, no token, somebody's token, another client's path")
    func refused() async throws {
        try await CotterScene.with { scene in
            let tokens = try await Self.tokens(scene)
            for grant in [nil, "identity_token", "event_token", "authorization_code"] as [String?] {
                var body = try #require(Self.body(tokens).object)
                body["grant_type"] = grant.map(JSONValue.string)
                expectMessage(try await scene.post("/token", .object(body)), 400, "grant_type is missing or wrong")
            }
            let none: JSONValue = ["grant_type": "refresh_token"]
            expectMessage(try await scene.post("/token", none), 400, "refresh_token is missing or wrong")
            let wrong: JSONValue = ["grant_type": "refresh_token", "refresh_token": "27944:lb31DY5pG229n"]
            expectMessage(try await scene.post("/token", wrong), 400, "The refresh token is not valid")
            for path in ["/token/x", "/token/cli_00000000000000000000000000"] {
                expectMessage(try await scene.post(path, Self.body(tokens)), 401, CotterSwitchTests.noKey)
            }
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            let settings: JSONValue = [
                "profile": "compatible", "redirect_uris": ["yourapp://"], "ways": ["email"],
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.clientID)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let stolen = try await scene.post("/token", Self.body(tokens), key: other.clientID)
            expectMessage(stolen, 400, "The refresh token is not valid")
            #expect(try await scene.post("/token", Self.body(tokens)).status == 200)
        }
    }

    @Test("A client that binds its tokens to keys gets none by these calls, and its code stays good")
    func bound() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            let settings: JSONObject = [
                "profile": "compatible", "redirect_uris": [.string(CotterScene.redirectURI)],
                "ways": ["device", "email"], "registration": "open",
            ]
            var binding = settings
            binding["dpop_bound_access_tokens"] = true
            try await scene.pages.set(binding)
            expectMessage(
                try await scene.identity(scene.redemption(result)), 400,
                "the client's tokens are bound to keys, which these calls cannot prove")
            try await scene.pages.set(settings)
            #expect(try await scene.identity(scene.redemption(result)).status == 200)
        }
    }
}
