import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI 2.0 Security Profile §5.3.2, §5.3.2.1, §5.3.2.2, §5.4.1.
@Suite("Clients of the profile strict: their settings, and authorization requests")
struct StrictProfileTests {
    @Test("The settings say what the profile fixes, and cannot loosen it")
    func settings() async throws {
        try await StrictScene.with { strict in
            let path = "/v1/admin/clients/\(strict.scene.credential.id)/openid"
            let shown = try await strict.scene.scene.administrator.call(.GET, path).success()
            #expect(shown["profile"] == "strict" && shown["dpop_bound_access_tokens"] == true, "\(shown)")
            #expect(shown["require_pushed_authorization_requests"] == true && shown["pkce_optional"] == false)
            let refused: [(JSONObject, String)] = [
                (["jwks": .null], "/jwks"), (["dpop_bound_access_tokens": false], "/dpop_bound_access_tokens"),
                (
                    ["require_pushed_authorization_requests": false],
                    "/require_pushed_authorization_requests"
                ),
                (["pkce_optional": true], "/pkce_optional"),
                (["id_token_signed_response_alg": "RS256"], "/id_token_signed_response_alg"),
                (["rotate_refresh_tokens": true], "/rotate_refresh_tokens"), (["device_grant": true], "/device_grant"),
                (
                    ["backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true],
                    "/backchannel_token_delivery_mode"
                ),
                (
                    [
                        "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                        "backchannel_authentication_request_signing_alg": "RS256",
                    ], "/backchannel_token_delivery_mode"
                ),
                (
                    [
                        "backchannel_token_delivery_mode": "push", "backchannel_number_entry": true,
                        "backchannel_client_notification_endpoint": "https://bank.example.com/ciba",
                        "backchannel_authentication_request_signing_alg": "ES256",
                    ], "/backchannel_token_delivery_mode"
                ),
                (
                    ["dpop_bound_access_tokens": true, "tls_client_certificate_bound_access_tokens": true],
                    "/tls_client_certificate_bound_access_tokens"
                ),
                (["redirect_uris": ["http://127.0.0.1:9/callback"]], "/redirect_uris/0"),
                (["redirect_uris": ["http://bank.example.com/callback"]], "/redirect_uris/0"),
                (["redirect_uris": ["com.example.bank:/callback"]], "/redirect_uris/0"),
            ]
            for (members, pointer) in refused {
                let body = JSONValue.object(strict.settings(members))
                let reply = try await strict.scene.scene.administrator.call(.PUT, path, body)
                expectRefusal(reply, 422, "invalid_member", at: pointer)
            }
            let usual = JSONValue.object(strict.settings(["id_token_signed_response_alg": "ES256"]))
            #expect(try await strict.scene.scene.administrator.call(.PUT, path, usual).success() == shown)
            // What it shows can be set again.
            var again = shown.object ?? [:]
            again["client"] = nil
            #expect(try await strict.scene.scene.administrator.call(.PUT, path, .object(again)).success() == shown)
        }
    }

    // Modules: discovery-end-point-verification
    @Test("The metadata name what such a client needs")
    func discovery() async throws {
        try await StrictScene.with { strict in
            let told = try await strict.scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false
            ).json
            func has(_ name: String, _ value: JSONValue) -> Bool { told[name]?.array?.contains(value) == true }
            #expect(told["pushed_authorization_request_endpoint"] == .string("\(strict.issuer)/oauth2/par"))
            #expect(told["authorization_response_iss_parameter_supported"] == true)
            #expect(has("code_challenge_methods_supported", "S256"))
            #expect(has("token_endpoint_auth_methods_supported", "private_key_jwt"))
            #expect(has("token_endpoint_auth_signing_alg_values_supported", "PS256"))
            #expect(has("token_endpoint_auth_signing_alg_values_supported", "ES256"))
            #expect(has("dpop_signing_alg_values_supported", "ES256"))
            #expect(has("id_token_signing_alg_values_supported", "ES256"))
        }
    }

    // Modules: happy-flow, access-token-type-header-case-sensitivity, par-without-duplicate-parameters
    @Test("From the pushed request to tokens that are worth nothing without the key")
    func happyFlow() async throws {
        try await StrictScene.with { strict in
            let done = try await strict.signIn(by: strict.key)
            #expect(done.result["state"] == "s-1" && done.result["iss"] == strict.issuer, "\(done.reply)")
            #expect(done.onward?.hasPrefix("\(StrictScene.redirectURI)?") == true, "\(done.reply)")
            let reply = try await strict.redeem(try #require(done.result["code"]))
            #expect(reply.status == 200 && reply.json["token_type"] == "DPoP", "\(reply)")
            let keys = try JWKSet(
                try await strict.scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
            let verified = try JWS.verify(
                try #require(reply.json["id_token"]?.string), algorithms: [.es256], type: .exactly("JWT"), keys: keys)
            #expect(try JSONValue(parsing: verified.payload)["nonce"] == "n-1")
            let access = try #require(reply.json["access_token"]?.string)
            #expect(try await strict.key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
            #expect(try await strict.scene.userinfo(access).status == 401)
            #expect(try await TestKey(strict.scene.server).send(.GET, "/oauth2/userinfo", token: access).status == 401)
            for scheme in ["dpop", "DPOP", "dPoP"] {
                let info = try await strict.scene.server.send(
                    .GET, "/oauth2/userinfo",
                    headers: [
                        ("Authorization", "\(scheme) \(access)"),
                        ("DPoP", try await strict.key.proof(.GET, "/oauth2/userinfo", for: access)),
                    ], isContract: false)
                #expect(info.status == 200, "\(scheme): \(info)")
            }
        }
    }

    // Modules: user-rejects-authentication
    @Test("What the person refuses, the client learns at its redirect URI")
    func userRejects() async throws {
        try await StrictScene.with { strict in
            let page = try await strict.scene.browser.get(try await strict.link())
            let back = try await strict.scene.browser.submit(page, to: "/signin/cancel")
            #expect(back.onward?.hasPrefix("\(StrictScene.redirectURI)?") == true, "\(back.reply)")
            #expect(back.result["error"] == "access_denied" && back.result["state"] == "s-1", "\(back.reply)")
            #expect(back.result["iss"] == strict.issuer && back.result["code"] == nil)
        }
    }

    // Modules: ensure-authorization-request-without-state-success, ensure-authorization-request-without-nonce-success,
    // ensure-authorization-request-with-64-char-nonce-success, ensure-authorization-request-with-long-nonce,
    // ensure-authorization-request-with-long-state, ensure-other-scope-order-succeeds
    @Test("State and nonce come back as they were sent, long ones too, and not where none was sent")
    func stateAndNonce() async throws {
        try await StrictScene.with { strict in
            _ = try await strict.code()
            func nonce(_ page: Page) async throws -> JSONValue? {
                let reply = try await strict.redeem(try #require(page.result["code"], "\(page.reply)"))
                return try StrictScene.claims(of: try #require(reply.json["id_token"]?.string, "\(reply)"))["nonce"]
            }
            let stateless = try await strict.signIn(["state": nil])
            #expect(stateless.result["state"] == nil, "\(stateless.reply)")
            #expect(try await nonce(stateless) == "n-1")
            #expect(try await nonce(try await strict.signIn(["nonce": nil])) == nil)
            for length in [64, 384] {
                let text = String(repeating: "n", count: length)
                #expect(try await nonce(try await strict.signIn(["nonce": text])) == .string(text))
            }
            let state = String(repeating: "s", count: 1000)
            #expect(try await strict.signIn(["state": state]).result["state"] == state)
            #expect(try await strict.signIn(["scope": "email openid"]).result["code"] != nil)
        }
    }

    // Modules: ensure-different-nonce-inside-and-outside-request-object,
    // ensure-different-state-inside-and-outside-request-object, state-only-outside-request-object-not-used
    @Test("What stands beside the request_uri counts for nothing, and nothing need stand there")
    func outside() async throws {
        try await StrictScene.with { strict in
            _ = try await strict.code()
            let more = "&state=outside&nonce=outside&redirect_uri=https%3A%2F%2Fevil.example%2F&response_type=code"
            let given = try await strict.scene.browser.get(try await strict.link() + more)
            #expect(given.location?.hasPrefix("\(StrictScene.redirectURI)?") == true, "\(given.reply)")
            #expect(given.result["state"] == "s-1", "\(given.reply)")
            let reply = try await strict.redeem(try #require(given.result["code"]))
            let token = try #require(reply.json["id_token"]?.string, "\(reply)")
            #expect(try StrictScene.claims(of: token)["nonce"] == "n-1")
            let stateless = try await strict.scene.browser.get(try await strict.link(["state": nil]) + more)
            #expect(stateless.result["code"] != nil && stateless.result["state"] == nil, "\(stateless.reply)")
        }
    }

    // Modules: ensure-unsigned-authorization-request-without-using-par-fails
    @Test("A request that was not pushed gets an error, also one that is signed")
    func pushedAlone() async throws {
        try await StrictScene.with { strict in
            _ = try await strict.code()
            let query = FormText.encoded(strict.parameters())
            let plain = try await strict.scene.browser.get("/oauth2/authorize?\(query)")
            #expect(plain.location?.hasPrefix("\(StrictScene.redirectURI)?") == true, "\(plain.reply)")
            #expect(plain.result["error"] == "invalid_request" && plain.result["code"] == nil, "\(plain.reply)")
            #expect(plain.result["iss"] == strict.issuer)
            let now = strict.scene.server.clock.now.seconds
            var claims: JSONObject = [
                "iss": .string(strict.scene.credential.id), "aud": .string(strict.issuer), "nbf": .integer(now),
                "exp": .integer(now + 60),
            ]
            for (name, value) in strict.parameters() { claims[name] = .string(value) }
            let object = try await JWS.sign(
                JSONValue.object(claims).encoded, type: nil, by: strict.signer,
                keyID: strict.signer.jwsPublicKey.thumbprint)
            let signed = try await strict.scene.browser.get(
                "/oauth2/authorize?client_id=\(strict.scene.credential.id)&request=\(object)")
            #expect(signed.result["error"] == "invalid_request" && signed.result["code"] == nil, "\(signed.reply)")
        }
    }

    @Test("What began before the client was strict gives it nothing: no code, no open page and no pushed request")
    func before() async throws {
        try await StrictScene.with(["profile": "web"]) { strict in
            let noPKCE: KeyValuePairs<String, String?> = ["code_challenge": nil, "code_challenge_method": nil]
            let pushed = try await strict.code()
            let weak = try await strict.code(noPKCE)
            let query = FormText.encoded(strict.parameters())
            let page = try await strict.scene.browser.get("/oauth2/authorize?\(query)")
            let plain = try #require(page.result["code"], "\(page.reply)")
            let link = try await strict.link()
            let browser = TestBrowser(strict.scene.server)
            let (path, open) = try await strict.scene.numberPage(
                from: try await browser.get(try await strict.link()), in: browser)
            try await strict.scene.approve(open)
            try await strict.scene.set(strict.settings())
            let unproved = strict.redeemFields(weak, verifier: nil)
            expectError(try await strict.send("/oauth2/token", unproved, by: strict.key), 400, "invalid_grant")
            let done = try await browser.get("\(path)/done")
            let late = try #require(done.result["code"], "\(done.reply)")
            for code in [pushed, plain, late] { expectError(try await strict.redeem(code), 400, "invalid_grant") }
            let refused = try await strict.scene.browser.get(link)
            #expect(refused.result["error"] == "invalid_request" && refused.result["code"] == nil, "\(refused.reply)")
            #expect(
                refused.result["error_description"] == "the request was pushed before the client was strict")
            #expect(try await strict.redeem(try await strict.code()).status == 200)
        }
    }

    // Modules: ensure-request-object-without-redirect-uri-fails, plain-fapi-tolerate-unregistered-redirect-uri,
    // ensure-redirect-uri-in-authorization-request, ensure-response-type-code-idtoken-fails,
    // ensure-response-type-token-fails, par-authorization-request-containing-request_uri-form-param,
    // par-ensure-pkce-required, par-plain-pkce-rejected
    @Test(
        "What is wrong with a request is refused when it is pushed",
        arguments: [
            (["redirect_uri": nil], "invalid_request"),
            (["redirect_uri": "https://bank.example.com/other"], "invalid_request"),
            (["redirect_uri": "https://bank.example.com/callback?x=1"], "invalid_request"),
            (["response_type": "code id_token"], "unsupported_response_type"),
            (["response_type": "token"], "unsupported_response_type"),
            (["request_uri": "urn:ietf:params:oauth:request_uri:x"], "invalid_request"),
            (["code_challenge": nil, "code_challenge_method": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge_method": nil], "invalid_request"),
        ] as [(KeyValuePairs<String, String?>, String)])
    func refused(_ changes: KeyValuePairs<String, String?>, _ error: String) async throws {
        try await StrictScene.with { strict in
            expectError(try await strict.push(changes), 400, error)
        }
    }

    // Modules: par-ensure-reused-request-uri-prior-to-auth-completion-succeeds, par-attempt-reuse-request_uri,
    // par-attempt-to-use-expired-request_uri, par-attempt-to-use-request_uri-for-different-client,
    // par-attempt-invalid-http-method
    @Test("A request_uri is for its client, for five minutes, by GET or POST, and spent by the code alone")
    func requestURI() async throws {
        try await StrictScene.with { strict in
            let link = try await strict.link()
            for _ in 0..<2 { #expect(try await strict.scene.browser.get(link).request != nil) }
            let first = try await strict.scene.browser.get(link)
            let (path, page) = try await strict.scene.numberPage(from: first, in: strict.scene.browser)
            try await strict.scene.approve(page)
            #expect(try await strict.scene.browser.get("\(path)/done").result["code"] != nil)
            let again = try await strict.scene.browser.get(link)
            #expect(again.status == 400 && again.location == nil && again.onward == nil, "\(again.reply)")
            let id = strict.scene.credential.id
            let foreign = try await strict.link().replacing(id, with: "cli_00000000000000000000000000")
            #expect(try await strict.scene.browser.get(foreign).status == 400)
            let late = try await strict.link()
            strict.scene.server.clock.advance(seconds: 300)
            let over = try await strict.scene.browser.get(late)
            #expect(over.status == 400 && over.location == nil && over.onward == nil, "\(over.reply)")
            let put = try await strict.scene.server.send(.PUT, "/oauth2/par", isContract: false)
            #expect(put.status == 405, "\(put)")
        }
    }
}
