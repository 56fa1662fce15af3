import CountersignCore
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("What the authorization endpoint accepts")
struct AuthorizeTests {
    // Modules: oidcc-ensure-registered-redirect-uri
    // Spec: RFC 9700 §2.1, RFC 6749 §3.1.2.
    @Test(
        "An unknown client or redirect URI gets a page, and no redirect",
        arguments: [
            ("client_id", nil), ("client_id", "cli_00000000000000000000000000"), ("client_id", "x"),
            ("redirect_uri", nil), ("redirect_uri", ""), ("redirect_uri", "https://evil.example/callback"),
            ("redirect_uri", "\(SignInPageScene.redirectURI)/"), ("redirect_uri", "\(SignInPageScene.redirectURI)?a=1"),
            ("redirect_uri", "http://127.0.0.1:10/callback"), ("redirect_uri", "http://localhost:9/callback"),
            ("redirect_uri", "HTTP://127.0.0.1:9/callback"), ("redirect_uri", "\(SignInPageScene.redirectURI)#x"),
        ] as [(String, String?)])
    func openRedirector(_ name: String, _ value: String?) async throws {
        try await SignInPageScene.with { scene in
            let page = try await scene.browser.get(scene.request([name: value]))
            #expect(page.status == 400 && page.location == nil && page.onward == nil, "\(page.reply)")
            #expect(page.html.contains(name) && page.request == nil)
        }
    }

    // Modules: oidcc-response-type-missing, oidcc-prompt-none-not-logged-in,
    // oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported,
    // oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported,
    // oidcc-ensure-request-object-with-redirect-uri
    // Spec: OpenID Connect Core 1.0 §3.1.2.6, §6.1 and §6.2; RFC 7636 §4.2 and §4.4.1; RFC 9700 §2.1.1.
    @Test(
        "Every other error goes to the client, with its state and the issuer",
        arguments: [
            (["response_type": nil], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["response_type": "code id_token"], "unsupported_response_type"), (["scope": nil], "invalid_scope"),
            (["scope": "calendar"], "invalid_scope"), (["response_mode": "fragment"], "invalid_request"),
            (["request": "e30.e30."], "request_not_supported"),
            (["request_uri": "https://shop.example.com/r"], "request_uri_not_supported"),
            (["code_challenge_method": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge": "short"], "invalid_request"),
            (["code_challenge": nil, "code_challenge_method": "S256"], "invalid_request"),
            (["code_challenge": nil, "code_challenge_method": nil, "nonce": nil], "invalid_request"),
            (["code_challenge": nil, "code_challenge_method": nil, "scope": "email"], "invalid_request"),
            (["prompt": "none login"], "invalid_request"), (["prompt": "later"], "invalid_request"),
            (["prompt": "none"], "login_required"), (["max_age": "-1"], "invalid_request"),
            (["max_age": "soon"], "invalid_request"), (["id_token_hint": "x.y.z"], "invalid_request"),
            (["claims": "x"], "invalid_request"), (["claims": "[]"], "invalid_request"),
            (
                ["claims": #"{"id_token":{"acr":{"essential":true,"values":["urn:other"]}}}"#],
                "unmet_authentication_requirements"
            ),
            (
                ["claims": #"{"id_token":{"acr":{"essential":true,"value":"phr"}}}"#],
                "unmet_authentication_requirements"
            ),
        ] as [(KeyValuePairs<String, String?>, String)])
    func errors(_ changes: KeyValuePairs<String, String?>, _ error: String) async throws {
        try await SignInPageScene.with { scene in
            let reply = try await scene.browser.get(scene.request(changes))
            #expect(reply.status == 303, "\(reply.reply)")
            #expect(reply.location?.hasPrefix("\(SignInPageScene.redirectURI)?") == true)
            #expect(reply.result["error"] == error && reply.result["state"] == "s-1", "\(reply.result)")
            #expect(reply.result["iss"] == "\(scene.server.issuer)" && reply.result["code"] == nil)
            // Spec: RFC 6749 §4.1.2.1, the characters of a description.
            let description = try #require(reply.result["error_description"])
            #expect(description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        }
    }

    // Modules: oidcc-ensure-request-without-nonce-succeeds-for-code-flow, oidcc-scope-profile,
    // oidcc-alternate-happy-flow, oidcc-display-page, oidcc-display-popup, oidcc-max-age-10000,
    // oidcc-ensure-request-with-unknown-parameter-succeeds, oidcc-login-hint, oidcc-ui-locales, oidcc-claims-locales,
    // oidcc-ensure-request-with-acr-values-succeeds, oidcc-claims-essential
    @Test(
        "Unknown parameters, other orders, unknown scopes and what is not understood of a wish do no harm",
        arguments: [
            ["extra": "foobar"], ["scope": "unknown profile openid"], ["display": "page"], ["display": "popup"],
            ["acr_values": "1 2"], ["acr_values": "urn:countersign:acr:aal2"],
            ["claims": #"{"id_token":{"acr":{"values":["urn:other"]}},"userinfo":{"x":null}}"#],
            ["claims_locales": "se"], ["ui_locales": "se"],
            ["claims": #"{"id_token":{"auth_time":{"essential":true}}}"#], ["state": nil],
            ["code_challenge": nil, "code_challenge_method": nil], ["login_hint": "external_id:customer-1"],
            ["max_age": "10000"], ["prompt": "consent"], ["nonce": nil],
        ] as [KeyValuePairs<String, String?>])
    func accepted(_ changes: KeyValuePairs<String, String?>) async throws {
        try await SignInPageScene.with { scene in
            let page = try await scene.browser.get(scene.request(changes))
            #expect(page.status == 200 && page.request != nil, "\(page.reply)")
        }
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("Of several acr_values the weakest that is known counts, in whatever order")
    func weakest() {
        let values = ["urn:countersign:acr:device2", "x", "urn:countersign:acr:device", "phr"]
        #expect(AuthorizationChecks.weakest(of: values) == .device)
        #expect(AuthorizationChecks.weakest(of: values.reversed()) == .device)
        #expect(AuthorizationChecks.weakest(of: ["x"]) == nil)
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("Another client's ID token is no hint")
    func otherClientsHint() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let hint = try #require(try await scene.redeem(code).json["id_token"]?.string)
            let other = try await scene.server.makeClient("Other").credential.id
            let settings: JSONValue = ["profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)]]
            let set = try await scene.scene.administrator.call(.PUT, "/v1/admin/clients/\(other)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let own = try await scene.browser.get(scene.request(["prompt": "none", "id_token_hint": hint]))
            #expect(own.result["code"] != nil, "\(own.reply)")
            let refused = try await scene.browser.get(
                scene.request(["client_id": other, "prompt": "none", "id_token_hint": hint]))
            #expect(refused.result["error"] == "invalid_request", "\(refused.reply)")
        }
    }

    // Modules: oidcc-id-token-hint
    // Spec: OpenID Connect Core 1.0 §3.1.2.1; OpenID Connect RP-Initiated Logout 1.0 §2.
    @Test("An ID token of ours whose key is gone is no error: nobody knows its person, who signs in")
    func forgottenKey() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let hint = try #require(try await scene.redeem(code).json["id_token"]?.string)
            func signed(by key: JSONValue, _ issuer: String) throws -> String {
                var parts = hint.split(separator: ".").map(String.init)
                let changes: [(Int, String, JSONValue)] = [(0, "kid", key), (1, "iss", .string(issuer))]
                for (part, name, value) in changes {
                    let json = try JSONValue(parsing: try #require(Base64URL.decode(parts[part])))
                    var members = try #require(json.object)
                    members[name] = value
                    parts[part] = Base64URL.encode(JSONValue.object(members).encoded)
                }
                return parts.joined(separator: ".")
            }
            let old = try signed(by: "gone", "\(scene.server.issuer)")
            let silent = try await scene.browser.get(scene.request(["prompt": "none", "id_token_hint": old]))
            #expect(silent.result["error"] == "login_required" && silent.result["code"] == nil, "\(silent.reply)")
            let page = try await scene.browser.get(scene.request(["id_token_hint": old]))
            #expect(page.status == 200 && page.request != nil, "\(page.reply)")
            let asks = try await scene.browser.get("/oauth2/logout?id_token_hint=\(old)")
            #expect(asks.request != nil && asks.heading == "Sign out?", "\(asks.reply)")
            // The session is as it was, and whoever signs in gets their code.
            #expect(try await scene.browser.get(scene.request(["prompt": "none"])).result["code"] != nil)
            #expect(try await scene.signIn(["id_token_hint": old]).result["code"] != nil)
            let foreign = try signed(by: "gone", "https://other.example.com")
            let refused = try await scene.browser.get(scene.request(["prompt": "none", "id_token_hint": foreign]))
            #expect(refused.result["error"] == "invalid_request", "\(refused.reply)")
        }
    }

    // Spec: OpenID Connect Core 1.0 §5.5.1.1.
    @Test("A strength that nobody can reach at the client is refused before anybody is asked")
    func unreachable() async throws {
        let needed: KeyValuePairs<String, String?> = [
            "claims": #"{"id_token":{"acr":{"essential":true,"value":"urn:countersign:acr:device2"}}}"#
        ]
        try await SignInPageScene.with { scene in
            let reply = try await scene.browser.get(scene.request(needed))
            #expect(reply.result["error"] == "unmet_authentication_requirements", "\(reply.reply)")
        }
        try await SignInPageScene.with(["step_up_types": ["pin"]]) { scene in
            let page = try await scene.browser.get(scene.request(needed))
            #expect(page.status == 200 && page.request != nil, "\(page.reply)")
        }
    }

    // Modules: oidcc-ensure-post-request-succeeds
    // Spec: RFC 9700 §4.12.
    @Test("oidcc-ensure-post-request-succeeds: a form of another site is answered with a redirect to the same request")
    func post() async throws {
        try await SignInPageScene.with { scene in
            let query = scene.request().split(separator: "?")[1].split(separator: "&").map { part in
                let pair = part.split(separator: "=", maxSplits: 1)
                return (String(pair[0]), String(pair[1]).removingPercentEncoding ?? "")
            }
            let reply = try await TestBrowser(scene.server).post("/oauth2/authorize", query)
            #expect(reply.status == 303)
            let page = try await scene.browser.get(try #require(reply.location))
            #expect(page.status == 200 && page.request != nil)
        }
    }

    @Test("What a row would hold has a length, and so has a request by a form")
    func lengths() async throws {
        try await SignInPageScene.with { scene in
            for (name, length) in [("state", 2048), ("nonce", 512)] {
                let fits = try await scene.browser.get(scene.request([name: String(repeating: "s", count: length)]))
                #expect(fits.status == 200)
                let long = try await scene.browser.get(scene.request([name: String(repeating: "s", count: length + 1)]))
                #expect(long.result["error"] == "invalid_request")
            }
            let many = try await scene.browser.get(scene.request(["ui_locales": String(repeating: "xx ", count: 2000)]))
            #expect(many.status == 200 && many.html.utf8.count < 10_000)
            let form = try await scene.browser.post(
                "/oauth2/authorize", [("state", String(repeating: "s", count: 9000)), ("pad", "x")])
            #expect(form.status == 400 && form.location == nil)
        }
    }

    @Test("A parameter that stands twice is refused, on a page")
    func twice() async throws {
        try await SignInPageScene.with { scene in
            let page = try await scene.browser.get("\(scene.request())&state=other")
            #expect(page.status == 400 && page.location == nil, "\(page.reply)")
        }
    }

    // Modules: oidcc-prompt-login, oidcc-prompt-none-logged-in, oidcc-max-age-1, oidcc-id-token-hint
    @Test("A signed-in browser gets a code without a page, unless the client wants the person anew")
    func session() async throws {
        try await SignInPageScene.with { scene in
            let first = try await scene.redeem(try #require(try await scene.signIn().result["code"]))
            for changes: KeyValuePairs<String, String?> in [
                [:], ["prompt": "none"], ["max_age": "60"], ["id_token_hint": first.json["id_token"]?.string],
            ] {
                let reply = try await scene.browser.get(scene.request(changes))
                let code = try #require(reply.result["code"], "\(reply.reply)")
                #expect(try await scene.redeem(code).status == 200)
            }
            for changes: KeyValuePairs<String, String?> in [["prompt": "login"], ["prompt": "select_account"]] {
                #expect(try await scene.browser.get(scene.request(changes)).request != nil)
            }
            scene.server.clock.advance(seconds: 2)
            #expect(try await scene.browser.get(scene.request(["max_age": "1"])).request != nil)
            let silent = try await scene.browser.get(scene.request(["max_age": "1", "prompt": "none"]))
            #expect(silent.result["error"] == "login_required")
            // Another browser has no session.
            let other = try await scene.browser.copy(without: "session").get(scene.request(["prompt": "none"]))
            #expect(other.result["error"] == "login_required")
        }
    }

    // Spec: RFC 6749 §4.1.2.1.
    @Test("The 61st code of a session in a minute: a page says so, and a request that shows none tells the client")
    func tooMany() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            for number in 1...60 {
                let reply = try await scene.browser.get(scene.request(["prompt": "none"]))
                #expect(reply.result["code"] != nil, "\(number)")
            }
            let silent = try await scene.browser.get(scene.request(["prompt": "none", "state": "s-61"]))
            #expect(silent.result["error"] == "temporarily_unavailable" && silent.result["state"] == "s-61")
            #expect(silent.result["iss"] == "\(scene.server.issuer)")
            let page = try await scene.browser.get(scene.request())
            #expect(page.status == 429 && page.location == nil)
            #expect(page.reply.headers["retry-after"] != nil)
        }
    }

    @Test("What the settings say of refresh tokens is told as it was set, and within its bounds")
    func refreshSettings() async throws {
        try await SignInPageScene.with { scene in
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let bare: JSONObject = ["profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)]]
            for (grace, rotates) in [(0, true), (300, false), (30, false)] as [(Int64, Bool)] {
                var settings = bare
                settings["refresh_grace"] = .integer(grace)
                settings["rotate_refresh_tokens"] = .bool(rotates)
                let set = try await scene.scene.administrator.call(.PUT, path, .object(settings)).success()
                #expect(set["refresh_grace"] == (grace == 30 ? nil : .integer(grace)), "\(set)")
                #expect(set["rotate_refresh_tokens"] == (rotates ? true : nil), "\(set)")
            }
            for (name, value) in [
                ("refresh_grace", 301), ("refresh_grace", -1), ("rotate_refresh_tokens", "yes"),
                ("dpop_bound_access_tokens", 1),
            ] as [(String, JSONValue)] {
                var settings = bare
                settings[name] = value
                let refused = try await scene.scene.administrator.call(.PUT, path, .object(settings))
                expectRefusal(refused, 422, "invalid_member", at: "/\(name)")
            }
        }
    }

    // Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
    @Test("`default_max_age` of the client's settings counts where a request does not say an age")
    func defaultMaximumAge() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "default_max_age": 60]) { scene in
            _ = try await scene.signIn()
            let silent = scene.request(["prompt": "none"])
            #expect(try await scene.browser.get(silent).result["code"] != nil)
            scene.server.clock.advance(seconds: 61)
            #expect(try await scene.browser.get(silent).result["error"] == "login_required")
            let older = scene.request(["prompt": "none", "max_age": "600"])
            #expect(try await scene.browser.get(older).result["code"] != nil)
        }
    }

    // Spec: OAuth 2.0 Form Post Response Mode §2.
    @Test("form_post: the result is posted by a page of ours, which may post anywhere")
    func formPost() async throws {
        try await SignInPageScene.with { scene in
            let done = try await scene.signIn(["response_mode": "form_post"])
            #expect(done.status == 200 && done.onward == nil && done.location == nil)
            #expect(done.html.contains("action=\"\(SignInPageScene.redirectURI)\""))
            let code = try #require(done.html.firstMatch(of: #/name="code" value="([^"]*)"/#)).output.1
            #expect(done.html.contains("name=\"iss\" value=\"\(scene.server.issuer)\""))
            #expect(done.reply.headers["content-security-policy"]?.contains("form-action") == false)
            #expect(try await scene.redeem(String(code)).status == 200)
            let error = try await scene.browser.get(
                scene.request(["response_mode": "form_post", "scope": "calendar"]))
            #expect(error.status == 200 && error.html.contains("name=\"error\" value=\"invalid_scope\""))
        }
    }

    @Test("RFC 8252 §8.6: an app on the machine itself gets nothing without a page, and names any port there")
    func native() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            try await scene.set(["profile": "native", "asked_browsers": "all"])
            let page = try await scene.browser.get(
                scene.request(["redirect_uri": "http://127.0.0.1:51234/callback"]))
            #expect(page.status == 200 && page.request != nil)
            let silent = try await scene.browser.get(scene.request(["prompt": "none"]))
            #expect(silent.result["error"] == "interaction_required")
            let bare = try await scene.browser.get(
                scene.request(["code_challenge": nil, "code_challenge_method": nil]))
            #expect(bare.result["error"] == "invalid_request")
        }
    }

    @Test("Nobody signs in to a client that is disabled or no longer uses the provider, not even halfway")
    func clientEnds() async throws {
        for isDisabled in [true, false] {
            try await SignInPageScene.with { scene in
                let (path, page) = try await scene.numberPage()
                try await scene.approve(page)
                let id = scene.credential.id
                let reply =
                    isDisabled
                    ? try await scene.scene.administrator.call(.POST, "/v1/admin/clients/\(id)/disable")
                    : try await scene.scene.administrator.call(.DELETE, "/v1/admin/clients/\(id)/openid")
                #expect(reply.status < 300, "\(reply)")
                let done = try await scene.browser.get("\(path)/done")
                #expect(done.result["code"] == nil && done.status == 400, "\(done.reply)")
                #expect(try await scene.browser.get(scene.request()).status == 400)
            }
        }
    }
}
