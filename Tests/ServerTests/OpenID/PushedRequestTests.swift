import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

extension SignInPageScene {
    /// Pushes the usual request.
    ///
    /// - Parameters:
    ///   - changes: parameters in the place of the usual ones; nil for none of this name.
    ///   - basic: the id and the secret of the client; nil for the shop's.
    ///   - headers: the fields in the place of `Authorization`; nil for that one.
    func push(
        _ changes: KeyValuePairs<String, String?> = [:], basic: (String, String)? = nil,
        headers: [(String, String)]? = nil
    ) async throws -> Reply {
        let (id, secret) = basic ?? credential
        let authorization = ("Authorization", "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))")
        let form = request(changes).drop { $0 != "?" }.dropFirst()
        return try await server.send(
            .POST, "/oauth2/par",
            headers: [("Content-Type", "application/x-www-form-urlencoded")] + (headers ?? [authorization]),
            body: Array(form.utf8), isContract: false)
    }

    /// The `request_uri` of a request that was pushed.
    func pushed(_ changes: KeyValuePairs<String, String?> = [:]) async throws -> String {
        let reply = try await push(changes)
        #expect(reply.status == 201, "\(reply)")
        return try #require(reply.json["request_uri"]?.string)
    }

    /// What a browser is sent for a `request_uri`.
    func link(to uri: String, of client: String? = nil) -> String {
        "/oauth2/authorize?client_id=\(client ?? credential.id)&request_uri=\(FormText.encoded(uri))"
    }

    /// The page with the number, of a sign-in that this page begins.
    func numberPage(from first: Page, in browser: TestBrowser) async throws -> (path: String, page: Page) {
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "device")])
        let path = try #require(asked.location, "\(asked.reply)")
        return (path, try await browser.get(path))
    }
}

@Suite("Authorization requests that clients push")
struct PushedRequestTests {
    /// Expects a page that helps, and no way to the client.
    private func expectTooOld(_ page: Page, at location: SourceLocation = #_sourceLocation) {
        let leads = page.location != nil || page.onward != nil
        #expect(page.status == 400 && !leads, "\(page.reply)", sourceLocation: location)
        #expect(page.heading == "This page is too old" && page.request == nil, sourceLocation: location)
        #expect(page.html.contains("Start again at"), sourceLocation: location)
    }

    private func expect(
        _ reply: Reply, _ status: Int, _ error: String, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.status == status, "\(reply)", sourceLocation: location)
        #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
        #expect(reply.headers["content-type"] == "application/json", sourceLocation: location)
        #expect(reply.headers["cache-control"] == "no-store", sourceLocation: location)
        #expect(reply.headers["location"] == nil && reply.json["request_uri"] == nil, sourceLocation: location)
    }

    @Test("RFC 9449 §10.1: a pushed request with a proof is for that key, which dpop_jkt may name, and no other")
    func bound() async throws {
        try await SignInPageScene.with { scene in
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            func push(_ thumbprint: String?) async throws -> Reply {
                let proof = try await key.proof(.POST, "/oauth2/par")
                return try await scene.push(["dpop_jkt": thumbprint], headers: [scene.basic, ("DPoP", proof)])
            }
            // It tells the nonce.
            expect(
                try await key.send(.POST, "/oauth2/par", [("response_type", "x")], headers: [scene.basic]), 400,
                "invalid_request")
            for thumbprint in [nil, key.thumbprint] {
                let reply = try await push(thumbprint)
                #expect(reply.status == 201 && reply.headers["dpop-nonce"]?.isEmpty == false, "\(reply)")
            }
            expect(try await push(thief.thumbprint), 400, "invalid_dpop_proof")
        }
    }

    @Test("RFC 9449 §11.1: a proof with a pushed request counts once, and a request that is refused spends none")
    func proofOnce() async throws {
        try await SignInPageScene.with { scene in
            let key = TestKey(scene.server)
            func push(_ proof: String, _ changes: KeyValuePairs<String, String?> = [:]) async throws -> Reply {
                try await scene.push(changes, headers: [scene.basic, ("DPoP", proof)])
            }
            // It tells the nonce.
            expect(
                try await key.send(.POST, "/oauth2/par", [("response_type", "x")], headers: [scene.basic]), 400,
                "invalid_request")
            let proof = try await key.proof(.POST, "/oauth2/par")
            expect(try await push(proof, ["response_type": nil]), 400, "invalid_request")
            let first = try await push(proof)
            #expect(first.status == 201, "\(first)")
            let again = try await push(proof)
            expect(again, 400, "invalid_dpop_proof")
            #expect(again.json["error_description"] == "the DPoP proof came before", "\(again)")
            let next = try await push(try await key.proof(.POST, "/oauth2/par"))
            #expect(next.status == 201, "\(next)")
        }
    }

    // Spec: RFC 9126 §2, §2.2, §4, §7.3.
    @Test("What was pushed signs in once; until then its page can be loaded again, in any browser")
    func signsIn() async throws {
        try await SignInPageScene.with { scene in
            let reply = try await scene.push()
            #expect(reply.status == 201 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json.object?.members.map(\.name) == ["request_uri", "expires_in"], "\(reply)")
            #expect(reply.json["expires_in"] == 300)
            let uri = try #require(reply.json["request_uri"]?.string)
            #expect(uri.hasPrefix("urn:ietf:params:oauth:request_uri:") && uri.utf8.count < 1000)
            let link = scene.link(to: uri)
            // Another browser, as a preview of the link is one, takes nothing away.
            #expect(try await TestBrowser(scene.server).get(link).request != nil)
            _ = try await scene.browser.get(link)
            let first = try await scene.browser.get(link)
            #expect(first.status == 200 && first.heading == "Who is signing in?", "\(first.reply)")
            let (path, page) = try await scene.numberPage(from: first, in: scene.browser)
            try await scene.approve(page)
            let done = try await scene.browser.get("\(path)/done")
            let code = try #require(done.result["code"], "\(done.reply)")
            #expect(done.result["state"] == "s-1" && done.result["iss"] == "\(scene.server.issuer)")
            // The reply may have been lost.
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
            let redeemed = try await scene.redeem(code)
            #expect(redeemed.status == 200 && redeemed.json["id_token"] != nil, "\(redeemed)")
            for browser in [scene.browser, TestBrowser(scene.server)] {
                self.expectTooOld(try await browser.get(link))
            }
        }
    }

    // Spec: RFC 9126 §7.3.
    @Test("In a browser that is signed in, a request gives one code, without a page")
    func session() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            let link = scene.link(to: try await scene.pushed(["prompt": "none"]))
            // Without a session nothing is given, and nothing spent.
            let stranger = try await TestBrowser(scene.server).get(link)
            #expect(stranger.result["error"] == "login_required", "\(stranger.reply)")
            let given = try await scene.browser.get(link)
            #expect(given.result["code"] != nil && given.result["state"] == "s-1", "\(given.reply)")
            self.expectTooOld(try await scene.browser.get(link))
            #expect(try await scene.browser.get(scene.link(to: try await scene.pushed())).result["code"] != nil)
        }
    }

    // Spec: RFC 9126 §7.3.
    @Test("Of two browsers that have begun with one request, the second gets a page, and no code")
    func twoBrowsers() async throws {
        try await SignInPageScene.with { scene in
            let link = scene.link(to: try await scene.pushed())
            let other = TestBrowser(scene.server)
            let (first, second) = (try await scene.browser.get(link), try await other.get(link))
            let begun = try await scene.numberPage(from: first, in: scene.browser)
            try await scene.approve(begun.page)
            #expect(try await scene.browser.get("\(begun.path)/done").result["code"] != nil)
            let late = try await scene.numberPage(from: second, in: other)
            try await scene.approve(late.page)
            self.expectTooOld(try await other.get("\(late.path)/done"))
            #expect(try await other.get("\(late.path)/done").result["code"] == nil)
        }
    }

    @Test("What the person cancels is over, and the client learns it")
    func cancelled() async throws {
        try await SignInPageScene.with { scene in
            let link = scene.link(to: try await scene.pushed())
            let page = try await scene.browser.get(link)
            let back = try await scene.browser.submit(page, to: "/signin/cancel")
            #expect(back.result["error"] == "access_denied" && back.result["state"] == "s-1", "\(back.reply)")
            self.expectTooOld(try await scene.browser.get(link))
        }
    }

    // Spec: RFC 9126 §2.2, §4.
    @Test("After five minutes a request begins nothing, and what has begun goes on")
    func expired() async throws {
        try await SignInPageScene.with { scene in
            let link = scene.link(to: try await scene.pushed(["ui_locales": "de"]))
            scene.server.clock.advance(seconds: 280)
            let first = try await scene.browser.get(link)
            #expect(first.request != nil && first.language == "de", "\(first.reply)")
            scene.server.clock.advance(seconds: 20)
            let late = try await scene.browser.get(link)
            #expect(late.status == 400 && late.location == nil && late.onward == nil, "\(late.reply)")
            #expect(late.heading == "Diese Seite ist zu alt" && late.request == nil, "\(late.reply)")
            let (path, page) = try await scene.numberPage(from: first, in: scene.browser)
            try await scene.approve(page)
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
        }
    }

    // Modules: par-attempt-to-use-request_uri-for-different-client
    // Spec: RFC 9126 §2.2, §7.1.
    @Test("Another client's request, and one that nobody has pushed, get a page and no redirect")
    func foreign() async throws {
        try await SignInPageScene.with { scene in
            let uri = try await scene.pushed()
            let other = try await scene.server.makeClient("Other").credential.id
            let settings: JSONValue = ["profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)]]
            let set = try await scene.scene.administrator.call(.PUT, "/v1/admin/clients/\(other)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let prefix = "urn:ietf:params:oauth:request_uri:"
            let links = [
                (scene.link(to: uri, of: other), "request_uri"), (scene.link(to: prefix), "request_uri"),
                (scene.link(to: "\(prefix)x"), "request_uri"), (scene.link(to: "\(uri)AAAA"), "request_uri"),
                (scene.link(to: uri, of: "cli_00000000000000000000000000"), "client_id"),
                (scene.link(to: uri, of: "x"), "client_id"),
                ("/oauth2/authorize?request_uri=\(FormText.encoded(uri))", "client_id"),
            ]
            for (link, why) in links {
                let page = try await scene.browser.get(link)
                #expect(page.status == 400 && page.location == nil && page.onward == nil, "\(page.reply)")
                #expect(page.html.contains(why) && page.request == nil, "\(page.reply)")
            }
            // It was not used up by that.
            #expect(try await scene.browser.get(scene.link(to: uri)).request != nil)
        }
    }

    // Spec: RFC 9126 §4; FAPI 2.0 Security Profile §5.3.2.2.
    @Test("What stands beside a request_uri counts for nothing, also by POST")
    func outside() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            let more =
                "&state=evil&redirect_uri=https%3A%2F%2Fevil.example%2F&scope=email&prompt=login&request=x&nonce=evil"
            let given = try await scene.browser.get(scene.link(to: try await scene.pushed()) + more)
            #expect(given.location?.hasPrefix("\(SignInPageScene.redirectURI)?") == true, "\(given.reply)")
            #expect(given.result["state"] == "s-1" && given.result["code"] != nil)
            let stateless = try await scene.browser.get(scene.link(to: try await scene.pushed(["state": nil])) + more)
            #expect(stateless.result["code"] != nil && stateless.result["state"] == nil, "\(stateless.reply)")
            let uri = try await scene.pushed()
            let posted = try await scene.browser.post(
                "/oauth2/authorize", [("client_id", scene.credential.id), ("request_uri", uri)])
            let location = try #require(posted.location, "\(posted.reply)")
            #expect(try await scene.browser.get(location).result["code"] != nil)
        }
    }

    // Spec: RFC 9126 §2.1, §2.3; RFC 6749 §4.1.2.1.
    @Test(
        "A request is checked when it is pushed, as one that a browser brings, and refused in JSON",
        arguments: [
            (["request_uri": "urn:ietf:params:oauth:request_uri:x"], "invalid_request"),
            (["request_uri": "https://shop.example.com/r"], "invalid_request"),
            (["redirect_uri": nil], "invalid_request"), (["redirect_uri": "https://evil.example/"], "invalid_request"),
            (["redirect_uri": "\(SignInPageScene.redirectURI)/"], "invalid_request"),
            (["redirect_uri": "http://127.0.0.1:10/callback"], "invalid_request"),
            (["response_type": nil], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["response_type": "code id_token"], "unsupported_response_type"),
            (["scope": nil], "invalid_scope"), (["scope": "calendar"], "invalid_scope"),
            (["code_challenge_method": "plain"], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
            (["code_challenge": nil, "code_challenge_method": nil, "nonce": nil], "invalid_request"),
            (["prompt": "none login"], "invalid_request"), (["max_age": "soon"], "invalid_request"),
            (["response_mode": "fragment"], "invalid_request"), (["id_token_hint": "x.y.z"], "invalid_request"),
            (["client_id": "cli_00000000000000000000000000"], "invalid_request"),
            (["resource": "https://unknown.example"], "invalid_target"),
            (["state": String(repeating: "s", count: 2049)], "invalid_request"),
        ] as [(KeyValuePairs<String, String?>, String)])
    func refused(_ changes: KeyValuePairs<String, String?>, _ error: String) async throws {
        try await SignInPageScene.with { scene in
            self.expect(try await scene.push(changes), 400, error)
        }
    }

    // Spec: RFC 9126 §2, §2.3.
    @Test("A client authenticates as at the token endpoint; other methods and bodies and too much are refused in JSON")
    func authentication() async throws {
        try await SignInPageScene.with { scene in
            self.expect(try await scene.push(headers: []), 401, "invalid_client")
            let wrong = try await scene.push(basic: (scene.credential.id, "wrong"))
            self.expect(wrong, 401, "invalid_client")
            #expect(wrong.headers["www-authenticate"] == "Basic realm=\"countersign\"")
            let inForm = try await scene.push(["client_secret": scene.credential.secret], headers: [])
            #expect(inForm.status == 201, "\(inForm)")
            // Its secret is no part of the request, and whoever authenticates by the header need not name themselves.
            #expect(try await scene.push(["client_id": nil]).status == 201)
            let got = try await scene.server.send(.GET, "/oauth2/par", isContract: false)
            self.expect(got, 405, "invalid_request")
            let json = try await scene.server.send(
                .POST, "/oauth2/par", headers: [("Content-Type", "application/json")], body: Array("{}".utf8),
                isContract: false)
            self.expect(json, 400, "invalid_request")
            let long = String(repeating: "a", count: 2000)
            let claims = #"{"id_token":{"acr":{"values":["\#(long)"]}}}"#
            let large = try await scene.push([
                "claims": claims, "state": long, "id_token_hint": nil, "login_hint": "\(long)@example.com",
            ])
            self.expect(large, 413, "invalid_request")
            self.expect(
                try await scene.push(["state": String(repeating: "a", count: 300_000)]), 413, "invalid_request")
            for _ in 0..<20 { _ = try await scene.push(basic: (scene.credential.id, "wrong")) }
            let limited = try await scene.push(basic: (scene.credential.id, "wrong"))
            self.expect(limited, 429, "temporarily_unavailable")
            #expect(limited.headers["retry-after"] != nil)
        }
    }

    @Test("An app and a page without a server push by their id; scripts of the page's origin read the reply")
    func publicClients() async throws {
        let origin = "https://app.example.com"
        for profile in ["native", "spa"] {
            try await SignInPageScene.with([
                "profile": .string(profile), "redirect_uris": [.string("\(origin)/callback")],
            ]) { scene in
                let changes: KeyValuePairs<String, String?> = ["redirect_uri": "\(origin)/callback"]
                let reply = try await scene.push(changes, headers: [("Origin", origin)])
                #expect(reply.status == 201, "\(reply)")
                #expect(reply.headers["access-control-allow-origin"] == (profile == "spa" ? origin : nil), "\(reply)")
                let uri = try #require(reply.json["request_uri"]?.string)
                #expect(try await scene.browser.get(scene.link(to: uri)).request != nil)
                self.expect(try await scene.push(["client_id": nil], headers: []), 401, "invalid_client")
            }
        }
    }

    // Spec: RFC 9126 §2.
    @Test("An assertion may be for the issuer, the token endpoint or the endpoint itself")
    func assertions() async throws {
        try await SignInPageScene.with { scene in
            let key = P256.Signing.PrivateKey()
            try await scene.set(["asked_browsers": "all", "jwks": JWKSet([JWK(key.publicKey)]).json])
            func push(for audience: String) async throws -> Reply {
                let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
                let claims: JSONValue = [
                    "iss": .string(id), "sub": .string(id), "aud": .string(audience), "iat": .integer(now),
                    "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
                ]
                let assertion = try await JWS.sign(claims.encoded, type: nil, by: key, keyID: nil)
                let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                return try await scene.push(
                    ["client_assertion_type": type, "client_assertion": assertion], headers: [])
            }
            for path in ["", "/oauth2/token", "/oauth2/par"] {
                let reply = try await push(for: "\(scene.server.issuer)\(path)")
                #expect(reply.status == 201, "\(path): \(reply)")
            }
            self.expect(try await push(for: "\(scene.server.issuer)/oauth2/introspect"), 401, "invalid_client")
            self.expect(try await scene.push(), 401, "invalid_client")
        }
    }

    // Spec: RFC 9126 §5, §6.
    @Test("A client that must push has no other requests; the metadata says that no other client must")
    func required() async throws {
        try await SignInPageScene.with { scene in
            let name = "require_pushed_authorization_requests"
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            #expect(try await scene.scene.administrator.call(.GET, path).success()[name] == nil)
            try await scene.set(["asked_browsers": "all", name: true])
            #expect(try await scene.scene.administrator.call(.GET, path).success()[name] == true)
            let plain = try await scene.browser.get(scene.request())
            #expect(plain.result["error"] == "invalid_request" && plain.result["state"] == "s-1", "\(plain.reply)")
            #expect(plain.location?.hasPrefix("\(SignInPageScene.redirectURI)?") == true)
            #expect(try await scene.browser.get(scene.link(to: try await scene.pushed())).request != nil)
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false
            ).json
            #expect(metadata[name] == false)
            #expect(
                metadata["pushed_authorization_request_endpoint"] == .string("\(scene.server.issuer)/oauth2/par"))
            let wrong: JSONValue = [
                "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)], name: "yes",
            ]
            expectRefusal(
                try await scene.scene.administrator.call(.PUT, path, wrong), 422, "invalid_member", at: "/\(name)")
        }
    }

    // Spec: RFC 9126 §7.4.
    @Test("What has changed of the client since the push counts")
    func changedSince() async throws {
        try await SignInPageScene.with { scene in
            let link = scene.link(to: try await scene.pushed())
            #expect(try await scene.browser.get(link).request != nil)
            try await scene.set(["redirect_uris": ["https://shop.example.com/other"]])
            let page = try await scene.browser.get(link)
            #expect(page.status == 400 && page.location == nil && page.onward == nil, "\(page.reply)")
            #expect(page.html.contains("redirect_uri") && page.request == nil)
            try await scene.set([:])
            #expect(try await scene.browser.get(link).request != nil)
            let path = "/v1/admin/clients/\(scene.credential.id)/disable"
            #expect(try await scene.scene.administrator.call(.POST, path).status == 200)
            let disabled = try await scene.browser.get(link)
            #expect(disabled.status == 400 && disabled.html.contains("client_id"), "\(disabled.reply)")
        }
    }
}
