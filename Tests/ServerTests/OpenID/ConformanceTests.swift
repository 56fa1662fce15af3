import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("What docs/reference/conformance.md says, and no other suite shows")
struct ConformanceTests {
    private func keys(_ scene: SignInPageScene) async throws -> JWKSet {
        try JWKSet(try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
    }

    /// The claims of the ID token for which the code of a page is redeemed.
    private func identity(_ page: Page, _ scene: SignInPageScene) async throws -> JSONValue {
        let tokens = try await scene.redeem(try #require(page.result["code"], "\(page.reply)")).json
        let verified = try JWS.verify(
            try #require(tokens["id_token"]?.string), algorithms: [.rs256], type: .exactly("JWT"),
            keys: try await keys(scene))
        return try JSONValue(parsing: verified.payload)
    }

    // Modules: oidcc-prompt-login, oidcc-prompt-none-logged-in, oidcc-max-age-1
    // Spec: OpenID Connect Core 1.0 §2 and §3.1.2.1.
    @Test("oidcc-prompt-none-logged-in, -prompt-login, -max-age-1: auth_time is that of the latest authentication")
    func authenticationTime() async throws {
        try await SignInPageScene.with { scene in
            let first = try await identity(try await scene.signIn(), scene)
            var last = try #require(first["auth_time"]?.integer)
            scene.server.clock.advance(seconds: 2)
            let silent = try await identity(try await scene.browser.get(scene.request(["prompt": "none"])), scene)
            #expect(silent["sub"] == first["sub"] && silent["auth_time"] == first["auth_time"], "\(silent)")
            #expect(try #require(silent["iat"]?.integer) > last)
            for changes: KeyValuePairs<String, String?> in [["prompt": "login"], ["max_age": "1"]] {
                scene.server.clock.advance(seconds: 2)
                let again = try await identity(try await scene.signIn(changes), scene)
                let authenticatedAt = try #require(again["auth_time"]?.integer)
                #expect(again["sub"] == first["sub"] && authenticatedAt > last, "\(again)")
                last = authenticatedAt
            }
        }
    }

    // Modules: oidcc-id-token-hint
    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("id_token_hint: without a page nobody but its person is signed in, and an access token is no hint")
    func hintOfAnother() async throws {
        let settings: JSONObject = ["ways": ["device", "email"], "registration": "open", "asked_browsers": "all"]
        try await SignInPageScene.with(settings) { scene in
            let tokens = try await scene.redeem(try #require(try await scene.signIn().result["code"])).json
            let hint = try #require(tokens["id_token"]?.string)
            let other = TestBrowser(scene.server)
            let next = try await scene.signInByMail("next@example.com", in: other)
            #expect(next.result["code"] != nil, "\(next.reply)")
            let hinted = scene.request(["prompt": "none", "id_token_hint": hint])
            let refused = try await other.get(hinted)
            #expect(refused.result["error"] == "login_required" && refused.result["code"] == nil, "\(refused.reply)")
            #expect(try await other.get(scene.request(["id_token_hint": hint])).request != nil)
            #expect(try await other.get(scene.request(["prompt": "none"])).result["code"] != nil)
            #expect(try await scene.browser.get(hinted).result["code"] != nil)
            let access = try #require(tokens["access_token"]?.string)
            let noHint = try await scene.browser.get(scene.request(["prompt": "none", "id_token_hint": access]))
            #expect(noHint.result["error"] == "invalid_request", "\(noHint.reply)")
        }
    }

    // Modules: oidcc-discovery-endpoint-verification
    // Spec: OpenID Connect Discovery 1.0 §3, §4.2 and §4.3; RFC 8414 §2.
    @Test("oidcc-discovery-endpoint-verification: what must be there is, and each endpoint answers as what it is")
    func discovery() async throws {
        try await SignInPageScene.with { scene in
            let issuer = "\(scene.server.issuer)"
            let reply = try await scene.server.send(.GET, "/.well-known/openid-configuration", isContract: false)
            let metadata = reply.json
            #expect(reply.status == 200 && reply.headers["content-type"] == "application/json")
            #expect(metadata["issuer"] == .string(issuer))
            for name in [
                "response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported",
                "scopes_supported", "claims_supported", "grant_types_supported", "response_modes_supported",
                "acr_values_supported", "token_endpoint_auth_methods_supported", "ui_locales_supported",
                "code_challenge_methods_supported",
            ] {
                let values = try #require(metadata[name]?.array, "\(name)").map { $0.string ?? "" }
                #expect(!values.isEmpty && !values.contains("") && Set(values).count == values.count, "\(name)")
            }
            let languages = metadata["ui_locales_supported"]?.array ?? []
            #expect(languages.allSatisfy { $0.string.flatMap { LanguageTag($0) } != nil })
            // What each says to a request with nothing in it.
            let endpoints: [(String, HTTPMethod, Int)] = [
                ("authorization_endpoint", .GET, 400), ("token_endpoint", .POST, 401),
                ("userinfo_endpoint", .GET, 401), ("introspection_endpoint", .POST, 401),
                ("device_authorization_endpoint", .POST, 401), ("backchannel_authentication_endpoint", .POST, 401),
                ("pushed_authorization_request_endpoint", .POST, 401),
                ("revocation_endpoint", .POST, 401), ("end_session_endpoint", .GET, 200), ("jwks_uri", .GET, 200),
            ]
            let named = metadata.object?.members.map(\.name).filter { name in
                name.hasSuffix("_endpoint") || name.hasSuffix("_uri")
            }
            #expect(Set(named ?? []) == Set(endpoints.map(\.0)))
            for (name, method, status) in endpoints {
                let url = try #require(metadata[name]?.string)
                #expect(url.hasPrefix("\(issuer)/"), "\(url)")
                let path = String(url.dropFirst(issuer.count))
                let found =
                    method == .GET
                    ? try await scene.server.send(.GET, path, isContract: false)
                    : try await scene.token([("unknown", "x")], at: path)
                #expect(found.status == status, "\(name): \(found)")
            }
            #expect(try await !keys(scene).keys.isEmpty)
        }
    }

    // Spec: RFC 8252 §7, §7.1, §7.2 and §8.4.
    @Test("RFC 8252 §7: an app returns by a scheme of its own, by https or to a loopback address, as it is registered")
    func redirectKinds() async throws {
        let uris = ["com.example.app:/callback", "https://app.example.com/callback", "http://127.0.0.1/callback"]
        let settings: JSONObject = ["profile": "native", "redirect_uris": .array(uris.map(JSONValue.string))]
        try await SignInPageScene.with(settings) { scene in
            for uri in uris {
                let page = try await scene.browser.get(scene.request(["redirect_uri": uri]))
                #expect(page.status == 200 && page.request != nil, "\(uri): \(page.reply)")
                for other in ["\(uri)/", "\(uri)?a=1", "\(uri.dropLast())"] {
                    let refused = try await scene.browser.get(scene.request(["redirect_uri": other]))
                    #expect(refused.status == 400 && refused.location == nil, "\(other): \(refused.reply)")
                }
            }
        }
    }

    @Test("RFC 9700 §2.6: no script reads a reply of the authorization endpoint, not even the client's own")
    func authorizationIsNotShared() async throws {
        let uri = "https://app.example.com/callback"
        try await SignInPageScene.with(["profile": "spa", "redirect_uris": [.string(uri)]]) { scene in
            let origin = [("Origin", "https://app.example.com")]
            let requests: [KeyValuePairs<String, String?>] = [
                ["redirect_uri": uri], ["redirect_uri": uri, "prompt": "none"], ["redirect_uri": nil],
            ]
            for (changes, status) in zip(requests, [200, 303, 400]) {
                let page = try await scene.browser.get(scene.request(changes), headers: origin)
                #expect(page.status == status && page.reply.headers["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test("OWASP ASVS 10.7.2: the page on which a person allows something names client, scope and time")
    func consent() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            let page = try await scene.browser.get(
                scene.request(["scope": "openid offline_access", "prompt": "consent"]))
            #expect(page.heading == "Allow ACME Shop to use your account?", "\(page.reply)")
            for part in ["Stay signed in", "Until you end it, 30 days at the longest without use"] {
                #expect(page.html.contains(part), "\(part)")
            }
        }
    }

    @Test("RFC 7009 §2.1: a hint of the other kind finds the token all the same; only POST is taken")
    func tokenHints() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await scene.redeem(code).json
            let access = try #require(tokens["access_token"]?.string)
            let refresh = try #require(tokens["refresh_token"]?.string)
            for (token, hint) in [(access, "refresh_token"), (refresh, "access_token")] {
                func send(to path: String) async throws -> Reply {
                    try await scene.token(
                        [("token", token), ("token_type_hint", hint)], basic: scene.credential, at: path)
                }
                #expect(try await send(to: "/oauth2/introspect").json["active"] == true)
                #expect(try await send(to: "/oauth2/revoke").status == 200)
                #expect(try await send(to: "/oauth2/introspect").json == ["active": false])
            }
            for path in ["/oauth2/revoke?token=x", "/oauth2/introspect?token=x"] {
                #expect(try await scene.server.send(.GET, path, isContract: false).status == 405, "\(path)")
            }
        }
    }

    @Test("RFC 7009 §5: wrong secrets meet one limit at the endpoints for tokens, revocation and introspection")
    func sharedLimit() async throws {
        try await SignInPageScene.with { scene in
            func send(to path: String) async throws -> Reply {
                try await scene.token([("token", "x")], basic: (scene.credential.id, "wrong"), at: path)
            }
            for _ in 0..<20 { #expect(try await send(to: "/oauth2/revoke").status == 401) }
            for path in ["/oauth2/revoke", "/oauth2/introspect", "/oauth2/token"] {
                let reply = try await send(to: path)
                #expect(reply.status == 429 && reply.headers["retry-after"] != nil, "\(reply)")
            }
        }
    }

    // Spec: RFC 9068 §2.2.
    @Test("RFC 7662 §2.2, §4: introspection repeats an access token's claims while it is good, and no cache keeps it")
    func introspectedClaims() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let access = try #require(try await scene.redeem(code).json["access_token"]?.string)
            let verified = try JWS.verify(
                access, algorithms: [.es256], type: .exactly("at+jwt"), keys: try await keys(scene))
            let claims = try JSONValue(parsing: verified.payload)
            func introspect(_ token: String) async throws -> Reply {
                try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/introspect")
            }
            let reply = try await introspect(access)
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["active"] == true && reply.json["token_type"] == "Bearer")
            let names = ["acr", "amr", "aud", "auth_time", "client_id", "exp", "iat", "iss", "jti", "scope", "sub"]
            let told = reply.json.object?.members.map(\.name) ?? []
            #expect(Set(told) == Set(names + ["active", "token_type"]), "\(reply)")
            for name in names { #expect(claims[name] != nil && reply.json[name] == claims[name], "\(name)") }
            #expect(try await introspect("\(access)A").json == ["active": false])
            scene.server.clock.advance(seconds: 600)
            #expect(try await introspect(access).json == ["active": false])
        }
    }
}
