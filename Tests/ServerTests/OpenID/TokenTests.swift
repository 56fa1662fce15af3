import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("The token endpoint and what its tokens are good for")
struct TokenTests {
    private func expect(
        _ reply: Reply, _ status: Int, _ error: String, location: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.status == status, "\(reply)", sourceLocation: location)
        #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
        #expect(
            reply.json.object?.members.map(\.name) == ["error", "error_description"], sourceLocation: location)
        #expect(reply.headers["content-type"] == "application/json", sourceLocation: location)
        #expect(reply.headers["cache-control"] == "no-store", sourceLocation: location)
    }

    // Modules: oidcc-server-client-secret-post
    @Test("RFC 6749 §2.3.1: a client authenticates by its header or its form, in one of them")
    func authentication() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let fields = [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
                ("code_verifier", SignInPageScene.verifier),
            ]
            let (id, secret) = scene.credential
            expect(try await scene.token(fields), 401, "invalid_client")
            expect(try await scene.token(fields + [("client_id", id)]), 401, "invalid_client")
            expect(try await scene.token(fields, basic: (id, "wrong")), 401, "invalid_client")
            let wrong = try await scene.token(fields, basic: ("cli_00000000000000000000000000", secret))
            expect(wrong, 401, "invalid_client")
            #expect(wrong.headers["www-authenticate"]?.hasPrefix("Basic ") == true)
            let inForm = [("client_id", id), ("client_secret", secret)]
            expect(try await scene.token(fields + inForm, basic: (id, secret)), 400, "invalid_request")
            let other = [("client_id", "cli_00000000000000000000000000")]
            expect(try await scene.token(fields + other, basic: (id, secret)), 400, "invalid_request")
            // None of these has spent the code.
            #expect(try await scene.token(fields + inForm).status == 200)
        }
    }

    // Spec: RFC 6749 §3.2.1.
    @Test("An app without a secret redeems by its verifier alone")
    func native() async throws {
        try await SignInPageScene.with(["profile": "native", "asked_browsers": "all"]) { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let fields = [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
                ("client_id", scene.credential.id),
            ]
            expect(try await scene.token(fields), 400, "invalid_grant")
            let reply = try await scene.token(fields + [("code_verifier", SignInPageScene.verifier)])
            #expect(reply.status == 200, "\(reply)")
        }
    }

    // Spec: RFC 7636 §4.1, RFC 6749 §5.2.
    @Test(
        "What is missing or unknown is said, and nothing of it is spent",
        arguments: [
            (["grant_type": nil], "invalid_request"), (["grant_type": "password"], "unsupported_grant_type"),
            (["code": nil], "invalid_request"), (["code": "x"], "invalid_grant"),
            (["redirect_uri": nil], "invalid_grant"),
            (["redirect_uri": "https://shop.example.com/"], "invalid_grant"), (["code_verifier": nil], "invalid_grant"),
            (["code_verifier": "short"], "invalid_grant"),
        ] as [(KeyValuePairs<String, String?>, String)])
    func refusals(_ changes: KeyValuePairs<String, String?>, _ error: String) async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            var fields: [(String, String?)] = [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
                ("code_verifier", SignInPageScene.verifier),
            ]
            for (name, value) in changes {
                if let place = fields.firstIndex(where: { $0.0 == name }) { fields[place].1 = value }
            }
            let sent = fields.compactMap { name, value in value.map { (name, $0) } }
            expect(try await scene.token(sent, basic: scene.credential), 400, error)
            #expect(try await scene.redeem(code).status == 200)
        }
    }

    // Spec: RFC 6749 §3.1 and §3.2.
    @Test("Only a form is read, only by POST; unknown parameters are ignored, empty ones are absent")
    func form() async throws {
        try await SignInPageScene.with { scene in
            let get = try await scene.server.send(.GET, "/oauth2/token", isContract: false)
            expect(get, 405, "invalid_request")
            let json = try await scene.server.send(
                .POST, "/oauth2/token", headers: [("Content-Type", "application/json")], body: Array("{}".utf8),
                isContract: false)
            expect(json, 400, "invalid_request")
            let twice = try await scene.token([("code", "a"), ("code", "b")], basic: scene.credential)
            expect(twice, 400, "invalid_request")
            let empty = try await scene.token([("grant_type", ""), ("resource", "x")], basic: scene.credential)
            expect(empty, 400, "invalid_request")
        }
    }

    // Modules: oidcc-refresh-token
    @Test("oidcc-refresh-token: offline_access gives a refresh token, and that new tokens")
    func refresh() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await scene.redeem(code).json
            let token = try #require(tokens["refresh_token"]?.string)
            func refresh(_ fields: [(String, String)] = []) async throws -> Reply {
                try await scene.token(
                    [("grant_type", "refresh_token"), ("refresh_token", token)] + fields, basic: scene.credential)
            }
            let next = try await refresh([("scope", "openid")])
            #expect(next.status == 200 && next.json["scope"] == "openid", "\(next)")
            #expect(next.json["refresh_token"] == .string(token))
            let access = try #require(next.json["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 200)
            expect(try await refresh([("scope", "openid profile")]), 400, "invalid_scope")
            let missing = try await scene.token([("grant_type", "refresh_token")], basic: scene.credential)
            expect(missing, 400, "invalid_request")
            // A code that comes again ends these, too.
            expect(try await scene.redeem(code), 400, "invalid_grant")
            expect(try await refresh(), 400, "invalid_grant")
            expect(try await scene.userinfo(access), 401, "invalid_token")
        }
    }

    // Spec: RFC 7662 §2.1, RFC 7009 §2.1.
    @Test("Introspection and revocation are for the authenticated client, and say no more than they must")
    func state() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await scene.redeem(code).json
            let access = try #require(tokens["access_token"]?.string)
            let refresh = try #require(tokens["refresh_token"]?.string)
            let (id, secret) = scene.credential
            func post(_ path: String, _ token: String?, basic: (String, String)?) async throws -> Reply {
                try await scene.token(
                    token.map { [("token", $0), ("token_type_hint", "unknown")] } ?? [], basic: basic, at: path)
            }
            let active = try await post("/oauth2/introspect", access, basic: (id, secret))
            #expect(active.status == 200 && active.json["active"] == true, "\(active)")
            #expect(active.json["sub"] == .string(scene.scene.user) && active.json["client_id"] == .string(id))
            #expect(active.json["token_type"] == "Bearer" && active.json["exp"]?.integer != nil)
            #expect(try await post("/oauth2/introspect", refresh, basic: (id, secret)).json["active"] == true)
            let inactive = try await post("/oauth2/introspect", "x", basic: (id, secret))
            #expect(inactive.status == 200 && inactive.json == ["active": false])
            expect(try await post("/oauth2/introspect", access, basic: nil), 401, "invalid_client")
            expect(try await post("/oauth2/introspect", nil, basic: (id, secret)), 400, "invalid_request")
            expect(try await post("/oauth2/revoke", access, basic: (id, "wrong")), 401, "invalid_client")
            for token in [access, "x", refresh] {
                let revoked = try await post("/oauth2/revoke", token, basic: (id, secret))
                #expect(revoked.status == 200 && revoked.body.isEmpty, "\(revoked)")
                let state = try await post("/oauth2/introspect", token, basic: (id, secret))
                #expect(state.json == ["active": false])
            }
        }
    }

    // Spec: RFC 9701 §4, §5, §8.1.
    @Test("Whoever asks for a signed introspection gets one for itself alone, which is no token anywhere")
    func signedState() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn(["scope": "openid"]).result["code"])
            let access = try #require(try await scene.redeem(code).json["access_token"]?.string)
            let type = "application/token-introspection+jwt"
            func introspect(_ token: String, accept: String, by caller: (String, String)) async throws -> Reply {
                try await scene.token([("token", token)], basic: caller, at: "/oauth2/introspect", accept: accept)
            }
            let keys = try JWKSet(try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
            func opened(_ reply: Reply) throws -> JSONValue {
                #expect(reply.status == 200 && reply.headers["content-type"] == type, "\(reply)")
                let text = String(decoding: reply.body, as: UTF8.self)
                let verified = try JWS.verify(
                    text, algorithms: [.rs256], type: .exactly("token-introspection+jwt"), keys: keys)
                return try JSONValue(parsing: verified.payload)
            }
            let plain = try await introspect(access, accept: "application/json", by: scene.credential)
            #expect(plain.headers["content-type"] == "application/json" && plain.json["active"] == true)
            let reply = try await introspect(access, accept: type, by: scene.credential)
            let claims = try opened(reply)
            #expect(claims["token_introspection"] == plain.json && claims["aud"] == .string(scene.credential.id))
            #expect(claims["iss"] == .string("\(scene.server.issuer)") && claims["iat"]?.integer != nil)
            #expect(claims["sub"] == nil && claims["exp"] == nil)
            let inactive = try opened(try await introspect("not-a-token-at-all", accept: type, by: scene.credential))
            #expect(inactive["token_introspection"] == ["active": false])
            for accept in ["*/*", "\(type);q=0, application/json", "application/json, \(type);q=0.5"] {
                let reply = try await introspect(access, accept: accept, by: scene.credential)
                #expect(reply.headers["content-type"] == "application/json", "\(accept)")
            }
            // No hint takes the signed form for an ID token, and a stranger learns nothing by it.
            let signed = String(decoding: reply.body, as: UTF8.self)
            let hinted = try await scene.browser.get(scene.request(["id_token_hint": signed, "prompt": "none"]))
            #expect(hinted.result["error"] == "invalid_request", "\(hinted.result)")
            let stranger = try await scene.server.makeClient("Other")
            let told = try await introspect(access, accept: type, by: stranger.credential)
            #expect(told.headers["content-type"] == "application/json" && told.json == ["active": false], "\(told)")
            let wrong = try await introspect(access, accept: type, by: (scene.credential.id, "wrong"))
            expect(wrong, 401, "invalid_client")
        }
    }

    @Test("Wrong secrets meet the limit that all doors share")
    func limit() async throws {
        try await SignInPageScene.with { scene in
            let fields = [("grant_type", "authorization_code"), ("code", "x")]
            for _ in 0..<20 {
                let reply = try await scene.token(fields, basic: (scene.credential.id, "wrong"))
                expect(reply, 401, "invalid_client")
            }
            let reply = try await scene.token(fields, basic: (scene.credential.id, "wrong"))
            expect(reply, 429, "temporarily_unavailable")
            #expect(reply.headers["retry-after"] != nil)
        }
    }

    // Modules: oidcc-codereuse-30seconds
    @Test("oidcc-codereuse-30seconds: a code that comes again ends the tokens that it gave")
    func reuse() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let access = try #require(try await scene.redeem(code).json["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 200)
            scene.server.clock.advance(seconds: 30)
            expect(try await scene.redeem(code), 400, "invalid_grant")
            let info = try await scene.userinfo(access)
            expect(info, 401, "invalid_token")
            #expect(info.headers["www-authenticate"]?.hasPrefix("Bearer error=\"invalid_token\"") == true)
        }
    }

    // Spec: RFC 6750 §3.
    @Test("Userinfo takes no ID token, no changed token, and none in the query")
    func userinfo() async throws {
        try await SignInPageScene.with { scene in
            let tokens = try await scene.redeem(try #require(try await scene.signIn().result["code"])).json
            let access = try #require(tokens["access_token"]?.string)
            expect(try await scene.userinfo(try #require(tokens["id_token"]?.string)), 401, "invalid_token")
            expect(try await scene.userinfo("\(access)A"), 401, "invalid_token")
            expect(try await scene.userinfo("x"), 401, "invalid_token")
            let query = try await scene.server.send(
                .GET, "/oauth2/userinfo?access_token=\(access)", isContract: false)
            expect(query, 401, "invalid_token")
            // Spec: RFC 6750 §3.1: nothing is said of a token that was not sent.
            // Spec: RFC 9449 §7.1.
            #expect(query.headers["www-authenticate"] == "Bearer, DPoP algs=\"ES256 EdDSA\"")
            #expect(try await scene.userinfo(access).status == 200)
            scene.server.clock.advance(seconds: 600)
            expect(try await scene.userinfo(access), 401, "invalid_token")
        }
    }

    // Modules: oidcc-userinfo-post-body
    // Spec: RFC 6750 §2, §2.2; OpenID Connect Core 1.0 §5.3.1.
    @Test("oidcc-userinfo-post-body: userinfo takes the token in a form, and in one place only")
    func userinfoForm() async throws {
        try await SignInPageScene.with { scene in
            let tokens = try await scene.redeem(try #require(try await scene.signIn().result["code"])).json
            let access = try #require(tokens["access_token"]?.string)
            let path = "/oauth2/userinfo"
            let reply = try await scene.token([("access_token", access)], at: path)
            #expect(reply.status == 200 && reply.json["sub"] == .string(scene.scene.user), "\(reply)")
            expect(try await scene.token([("access_token", "\(access)A")], at: path), 401, "invalid_token")
            expect(try await scene.token([("token", access)], at: path), 401, "invalid_token")
            let both = try await scene.token([("access_token", access)], basic: scene.credential, at: path)
            expect(both, 400, "invalid_request")
            expect(
                try await scene.token([("access_token", access), ("access_token", access)], at: path), 400,
                "invalid_request")
        }
    }

    // Spec: RFC 9728 §2, §3.
    @Test("Our own API names who gives tokens for it")
    func resourceMetadata() async throws {
        try await SignInPageScene.with { scene in
            let issuer = "\(scene.server.issuer)"
            let reply = try await scene.server.send(
                .GET, "/.well-known/oauth-protected-resource", isContract: false)
            #expect(reply.status == 200 && reply.headers["access-control-allow-origin"] == "*", "\(reply)")
            #expect(reply.json["resource"] == .string(issuer))
            #expect(reply.json["authorization_servers"] == [.string(issuer)])
            let scopes = reply.json["scopes_supported"]?.array ?? []
            #expect(scopes.contains("challenges") && scopes.contains("openid") && !scopes.contains("admin"))
            let document = try #require(reply.json["resource_documentation"]?.string)
            let path = String(document.dropFirst(issuer.count))
            #expect(try await scene.server.send(.GET, path).status == 200)
        }
    }

    // Modules: oidcc-discovery-endpoint-verification
    // Spec: OpenID Connect Discovery 1.0 §4, RFC 8414 §3.
    @Test("oidcc-discovery-endpoint-verification: the metadata name what is there")
    func metadata() async throws {
        try await SignInPageScene.with { scene in
            let issuer = "\(scene.server.issuer)"
            for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
                let reply = try await scene.server.send(.GET, path, isContract: false)
                #expect(reply.status == 200 && reply.headers["content-type"] == "application/json")
                #expect(reply.json["issuer"] == .string(issuer))
                for (name, method) in [
                    ("authorization_endpoint", HTTPMethod.GET), ("token_endpoint", .POST), ("userinfo_endpoint", .GET),
                    ("jwks_uri", .GET),
                ] {
                    let url = try #require(reply.json[name]?.string)
                    #expect(url.hasPrefix(issuer))
                    let found = try await scene.server.send(
                        method, String(url.dropFirst(issuer.count)), isContract: false)
                    #expect(found.status != 404, "\(name)")
                }
                for (name, value) in [
                    ("response_types_supported", "code"), ("subject_types_supported", "public"),
                    ("id_token_signing_alg_values_supported", "RS256"), ("scopes_supported", "openid"),
                    ("code_challenge_methods_supported", "S256"),
                ] {
                    #expect(reply.json[name]?.array?.contains(.string(value)) == true, "\(name)")
                }
                #expect(reply.json["authorization_response_iss_parameter_supported"] == true)
                #expect(reply.json.object?.members.allSatisfy { $0.value.array?.isEmpty != true } == true)
            }
        }
    }
}
