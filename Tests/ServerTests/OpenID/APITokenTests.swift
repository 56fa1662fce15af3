import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 8707 §2, RFC 9068 §4; docs/decisions/0085-tokens-for-apis.md.
@Suite("Tokens for APIs, over HTTP", .timeLimit(.minutes(15)))
struct APITokenTests {
    private static let orders = "https://orders.example/"
    private static let mail = "urn:example:mail"

    /// A shop that may have tokens for two APIs.
    private func with(
        _ body: @escaping @Sendable (SignInPageScene, _ orders: Caller) async throws -> Void
    ) async throws {
        try await SignInPageScene.with { scene in
            var apis: [Caller] = []
            for (name, scopes) in [(Self.orders, ["read", "orders.write"]), (Self.mail, ["read"])] {
                let api = try await scene.server.makeClient("API")
                let settings: JSONValue = [
                    "profile": "web", "redirect_uris": [],
                    "resource": ["identifier": .string(name), "scopes": .array(scopes.map(JSONValue.string))],
                ]
                let set = try await scene.scene.administrator.call(
                    .PUT, "/v1/admin/clients/\(api.credential.id)/openid", settings)
                #expect(set.status == 200, "\(set)")
                apis.append(api)
            }
            try await scene.set(["asked_browsers": "all", "resources": [.string(Self.orders), .string(Self.mail)]])
            try await body(scene, apis[0])
        }
    }

    private func redeem(_ code: String, _ resources: [String], _ scene: SignInPageScene) async throws -> Reply {
        try await scene.token(
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
                ("code_verifier", SignInPageScene.verifier),
            ] + resources.map { ("resource", $0) }, basic: scene.credential)
    }

    @Test("A sign-in for two APIs, a token for one: that API asks about it, and nothing else takes it")
    func given() async throws {
        try await with { scene, orders in
            // The parameter stands twice.
            let request = scene.request(["scope": "openid read orders.write", "resource": Self.orders])
            let first = try await scene.browser.get("\(request)&resource=\(FormText.encoded(Self.mail))")
            let second = try await scene.browser.submit(
                first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            let asked = try await scene.browser.submit(second, to: "/signin/ask", [("way", "device")])
            let path = try #require(asked.location, "\(asked.reply)")
            try await scene.approve(try await scene.browser.get(path))
            let page = try await scene.browser.get("\(path)/done")
            let code = try #require(page.result["code"], "\(page.reply)")
            for resources in [[], [Self.orders, Self.mail], ["https://orders.example"]] {
                let refused = try await redeem(code, resources, scene)
                #expect(refused.status == 400 && refused.json["error"] == "invalid_target", "\(refused)")
            }
            let given = try await redeem(code, [Self.orders], scene).success()
            #expect(given["scope"] == "read orders.write" && given["id_token"] != nil)
            let access = try #require(given["access_token"]?.string)
            func introspect(_ caller: (String, String)) async throws -> JSONValue {
                try await scene.token([("token", access)], basic: caller, at: "/oauth2/introspect").json
            }
            for caller in [orders.credential, scene.credential] {
                let told = try await introspect(caller)
                #expect(told["active"] == true && told["aud"] == .string(Self.orders), "\(told)")
                #expect(told["scope"] == "read orders.write" && told["client_id"] == .string(scene.credential.id))
            }
            let stranger = try await scene.server.makeClient("Other")
            #expect(try await introspect(stranger.credential) == ["active": false])
            #expect(try await scene.userinfo(access).status == 401)
            #expect(try await scene.server.caller("Bearer \(access)").call(.GET, "/v1/users").status == 401)
        }
    }

    @Test("A request for what the client may not have goes back to the client with `invalid_target`, and its state")
    func refused() async throws {
        try await with { scene, _ in
            let requests: [(KeyValuePairs<String, String?>, String)] = [
                (["resource": "https://unknown.example/", "scope": "openid read"], "invalid_target"),
                (["resource": "https://orders.example/#read", "scope": "openid read"], "invalid_target"),
                (["scope": "openid orders.write"], "invalid_target"),
                (["resource": Self.mail, "scope": "openid orders.write"], "invalid_scope"),
                (["resource": Self.orders], "invalid_scope"),
            ]
            for (changes, error) in requests {
                let reply = try await scene.browser.get(scene.request(changes))
                #expect(reply.status == 303 && reply.result["error"] == error, "\(changes): \(reply.result)")
                #expect(reply.result["state"] == "s-1")
            }
            let other = try await scene.token(
                [("grant_type", "client_credentials"), ("resource", "https://unknown.example/")],
                basic: scene.credential)
            #expect(other.status == 400 && other.json["error"] == "invalid_target", "\(other)")
        }
    }

    @Test("An API's name is taken once, its scopes are none of the provider's, and only who keeps a secret is one")
    func settings() async throws {
        try await with { scene, _ in
            let api = try await scene.server.makeClient("Late")
            let refused: [(JSONValue, profile: String, pointer: String)] = [
                (["identifier": .string(Self.orders), "scopes": ["a"]], "web", "/resource/identifier"),
                (["identifier": .string("\(scene.server.issuer)"), "scopes": ["a"]], "web", "/resource/identifier"),
                (["identifier": "urn:a", "scopes": ["a", "openid"]], "web", "/resource/scopes"),
                (["identifier": "urn:a", "scopes": []], "web", "/resource/scopes"),
                (["identifier": "urn:a", "scopes": ["a", "a"]], "web", "/resource/scopes"),
                (["identifier": "urn:a", "scopes": ["a b"]], "web", "/resource/scopes/0"),
                (["identifier": "urn:a#b", "scopes": ["a"]], "web", "/resource/identifier"),
                (["identifier": "urn:a", "scopes": ["a"]], "native", "/resource"),
            ]
            for (resource, profile, pointer) in refused {
                let settings: JSONValue = [
                    "profile": .string(profile), "redirect_uris": ["https://a.example/"], "resource": resource,
                ]
                let reply = try await scene.scene.administrator.call(
                    .PUT, "/v1/admin/clients/\(api.credential.id)/openid", settings)
                #expect(reply.status == 422 && reply.json["pointer"] == .string(pointer), "\(reply)")
            }
            let none = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(api.credential.id)/openid", ["profile": "web", "redirect_uris": []])
            #expect(none.status == 422 && none.json["pointer"] == "/redirect_uris", "\(none)")
        }
    }
}
