import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: CIBA Core 1.0.
@Suite("Client-initiated backchannel authentication over HTTP", .timeLimit(.minutes(15)))
struct BackchannelEndpointTests {
    private static let name = "customer-1@example.com"
    private static let path = "/oauth2/bc-authorize"
    private static let registered: JSONObject = [
        "asked_browsers": "all", "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
    ]

    /// What the client's server gets that asks for a customer.
    private static func begin(
        _ scene: SignInPageScene, _ fields: [(String, String)] = [("login_hint", name)], scope: String? = "openid",
        basic: (String, String)? = nil
    ) async throws -> Reply {
        let scopes = scope.map { [("scope", $0)] } ?? []
        return try await scene.token(scopes + fields, basic: basic ?? scene.credential, at: path)
    }

    @Test("RFC 9396 §2: a server has nothing authorized in detail, since no page could show it")
    func details() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let fields = [("login_hint", Self.name), ("authorization_details", #"[{"type":"payment"}]"#)]
            expectOAuthError(try await Self.begin(scene, fields), "invalid_authorization_details")
        }
    }

    // Spec: CIBA Core 1.0 §7, §7.1, §7.2, §7.3.
    @Test("CIBA Core 1.0 §7.3: what the client gets, also for somebody whom nobody knows")
    func begins() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            for name in [Self.name, "nobody@example.com", "external_id:nobody", "x"] {
                let begun = try await Self.begin(scene, [("login_hint", name), ("unknown", "y"), ("user_code", "")])
                #expect(begun.status == 200 && begun.headers["cache-control"] == "no-store", "\(begun)")
                #expect(
                    begun.json.object?.members.map(\.name) == ["auth_req_id", "expires_in", "interval", "number"])
                #expect(begun.json["expires_in"] == 120 && begun.json["interval"] == 5)
                #expect(begun.json["auth_req_id"]?.string?.wholeMatch(of: /[A-Za-z0-9._-]{60,}/) != nil)
                #expect(begun.json["number"]?.string?.wholeMatch(of: /[0-9]{6}/) != nil)
            }
            let short = try await Self.begin(scene, [("login_hint", "x"), ("requested_expiry", "30")])
            #expect(short.json["expires_in"] == 30)
            for expiry in ["0", "-1", "x", "1.5"] {
                expectOAuthError(
                    try await Self.begin(scene, [("login_hint", "x"), ("requested_expiry", expiry)]), "invalid_request")
            }
            expectOAuthError(try await Self.begin(scene, scope: nil), "invalid_request")
            expectOAuthError(try await Self.begin(scene, scope: "email"), "invalid_scope")
            expectOAuthError(
                try await Self.begin(scene, [("login_hint", "x"), ("login_hint", "y")]), "invalid_request")
        }
    }

    // Spec: CIBA Core 1.0 §7.1, §13.
    @Test("CIBA Core 1.0 §7.1: the client authenticates, and is registered for it")
    func clients() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let hint = ("login_hint", Self.name)
            let nobody = try await scene.token([("scope", "openid"), hint], at: Self.path)
            expectOAuthError(nobody, "invalid_client", 401)
            let named = try await scene.token(
                [("scope", "openid"), hint, ("client_id", scene.credential.id)], at: Self.path)
            expectOAuthError(named, "invalid_client", 401)
            expectOAuthError(try await Self.begin(scene, basic: (scene.credential.id, "wrong")), "invalid_client", 401)
            let begun = try await Self.begin(scene)
            let get = try await scene.server.send(.GET, Self.path, isContract: false)
            expectOAuthError(get, "invalid_request", 405)
            try await scene.set(["asked_browsers": "all"])
            expectOAuthError(try await Self.begin(scene), "unauthorized_client")
            expectOAuthError(try await scene.poll(begun), "unauthorized_client")
            try await scene.set(["profile": "native", "asked_browsers": "all"])
            expectOAuthError(
                try await scene.token([("client_id", scene.credential.id), hint], at: Self.path), "invalid_client", 401)
        }
    }

    // Spec: CIBA Core 1.0 §7.1, §14.
    @Test("CIBA Core 1.0 §7.1: one hint, and no more: a name, or an ID token of ours for this client")
    func hints() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, [("login_hint", "external_id:customer-1")])
            try await scene.approve(begun)
            let tokens = try await scene.poll(begun)
            let token = try #require(tokens.json["id_token"]?.string, "\(tokens)")
            let wrong: [[(String, String)]] = [
                [], [("login_hint", Self.name), ("id_token_hint", token)], [("login_hint_token", "x")],
                [("login_hint_token", "x"), ("login_hint", Self.name)], [("id_token_hint", "x")],
                [("id_token_hint", String(token.dropLast(4)) + "AAAA")],
            ]
            for fields in wrong { expectOAuthError(try await Self.begin(scene, fields), "invalid_request") }
            // Its time is over, and it still says whom the client means.
            scene.server.clock.advance(seconds: 3600)
            let again = try await Self.begin(scene, [("id_token_hint", token)])
            try await scene.approve(again)
            #expect(try await scene.poll(again).status == 200)
            let other = try await scene.server.makeClient("Other")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [], "backchannel_token_delivery_mode": "poll",
                "backchannel_number_entry": true,
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            expectOAuthError(
                try await Self.begin(scene, [("id_token_hint", token)], basic: other.credential), "invalid_request")
        }
    }

    // Spec: CIBA Core 1.0 §14.
    @Test("CIBA Core 1.0 §14: an ID token that was over long ago names nobody")
    func oldHint() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            try await scene.approve(begun)
            let token = try #require(try await scene.poll(begun).json["id_token"]?.string)
            scene.server.clock.advance(seconds: 91 * 86_400)
            expectOAuthError(try await Self.begin(scene, [("id_token_hint", token)]), "invalid_request")
        }
    }

    // Modules: -ensure-authorization-request-with-potentially-bad-binding-message
    // Spec: CIBA Core 1.0 §7.1, §13.
    @Test(
        """
        fapi-ciba-id1-ensure-authorization-request-with-potentially-bad-binding-message: shown as it is, or \
        invalid_binding_message
        """)
    func bindingMessages() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            for message in ["W4SCT", "Zahlung über 12,00 € an ACME", String(repeating: "x", count: 200)] {
                let begun = try await Self.begin(scene, [("login_hint", Self.name), ("binding_message", message)])
                #expect(begun.status == 200, "\(begun)")
                let question = try await scene.scene.phone.open(try await scene.pending()).question
                #expect(question.message.text == message)
                let token = try #require(begun.json["auth_req_id"]?.string)
                _ = try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/revoke")
            }
            let long = String(repeating: "x", count: 201)
            for message in [long, "a\u{202E}b", " ", "a\u{0007}", "Pay?\n\nFrom: Berlin", "5 €  to Bob"] {
                let refused = try await Self.begin(scene, [("login_hint", Self.name), ("binding_message", message)])
                expectOAuthError(refused, "invalid_binding_message")
            }
        }
    }

    // Spec: FAPI-CIBA §5.2.2.
    @Test("FAPI-CIBA §5.2.2: of a request_context, address and browser stand on the phone, as the client's word")
    func contexts() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            func begin(_ context: String) async throws -> Reply {
                try await Self.begin(scene, [("login_hint", Self.name), ("request_context", context)])
            }
            let firefox = "Mozilla/5.0 (Windows NT 10.0; rv:128.0) Gecko/20100101 Firefox/128.0"
            let shown: [(String, String?)] = [
                (
                    #"{"ip":"203.0.113.7","user_agent":"\#(firefox)","geolocation":{"country":"DE"}}"#,
                    "Firefox on Windows, 203.0.113.7 (says ACME Shop)"
                ), (#"{"user_agent":"as we have seen, in Berlin"}"#, "Unknown browser (says ACME Shop)"),
                (#"{"geolocation":{"country":"DE"}}"#, nil), ("{}", nil), ("", nil),
            ]
            for (context, line) in shown {
                let begun = try await begin(context)
                #expect(begun.status == 200, "\(begun)")
                let question = try await scene.scene.phone.open(try await scene.pending()).question
                #expect(question.context?.text == line, "\(context)")
                try await scene.approve(begun)
            }
            let long = String(repeating: "x", count: 4096)
            let wrong = [
                "x", "5", "[]", #"{"ip":"localhost"}"#, #"{"ip":"203.0.113.7, Berlin"}"#, #"{"ip":null}"#,
                #"{"ip":"203.0.113.7","user_agent":5}"#, #"{"user_agent":"\#(long)"}"#,
            ]
            for context in wrong { expectOAuthError(try await begin(context), "invalid_request") }
        }
    }

    // Modules: -multiple-call-to-token-endpoint
    // Spec: CIBA Core 1.0 §10.1, §11; OpenID Connect Core 1.0 §3.1.3.3.
    @Test("fapi-ciba-id1-multiple-call-to-token-endpoint: pending, too fast, approved, tokens, and it is spent")
    func tokens() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, scope: "openid email offline_access")
            let pending = try await scene.poll(begun, after: 0)
            expectOAuthError(pending, "authorization_pending")
            #expect(pending.headers["retry-after"] == "5")
            let fast = try await scene.poll(begun, after: 0)
            expectOAuthError(fast, "slow_down")
            #expect(fast.headers["retry-after"] == "10")
            try await scene.approve(begun)
            let tokens = try await scene.poll(begun, after: 10)
            #expect(tokens.status == 200 && tokens.headers["cache-control"] == "no-store", "\(tokens)")
            #expect(tokens.json["token_type"] == "Bearer" && tokens.json["refresh_token"] != nil)
            let access = try #require(tokens.json["access_token"]?.string)
            #expect(try await scene.userinfo(access).json["sub"] == .string(scene.scene.user))
            let keys = try JWKSet(try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
            let identity = try JWS.verify(
                try #require(tokens.json["id_token"]?.string), algorithms: [.rs256], type: .exactly("JWT"), keys: keys)
            let claims = try JSONValue(parsing: identity.payload)
            #expect(claims["sub"] == .string(scene.scene.user) && claims["aud"] == .string(scene.credential.id))
            #expect(claims["acr"] == "urn:countersign:acr:device")
            #expect(claims["urn:openid:params:jwt:claim:auth_req_id"] == nil)
            expectOAuthError(try await scene.poll(begun), "invalid_grant")
            #expect(try await scene.userinfo(access).status == 401)
            let missing = try await scene.token(
                [("grant_type", OAuthDoor.backchannelGrantType)], basic: scene.credential)
            expectOAuthError(missing, "invalid_request")
        }
    }

    // Modules: -user-rejects-authentication, -auth-req-id-expired
    // Spec: CIBA Core 1.0 §11.
    @Test("fapi-ciba-id1-user-rejects-authentication: access_denied; -auth-req-id-expired: expired_token")
    func refused() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            try await scene.deny()
            expectOAuthError(try await scene.poll(begun), "access_denied")
            let late = try await Self.begin(scene, [("login_hint", "nobody"), ("requested_expiry", "30")])
            expectOAuthError(try await scene.poll(late), "authorization_pending")
            expectOAuthError(try await scene.poll(late, after: 30), "expired_token")
        }
    }

    // Modules: -ensure-wrong-auth-req-id-in-token-endpoint-request
    // Spec: CIBA Core 1.0 §10.1, §11.
    @Test("fapi-ciba-id1-ensure-wrong-auth-req-id-in-token-endpoint-request: invalid_grant, also for another client")
    func otherClient() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            try await scene.approve(begun)
            let made = try await scene.token(
                [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", "wrong")], basic: scene.credential)
            expectOAuthError(made, "invalid_grant")
            let other = try await scene.server.makeClient("Other")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [], "backchannel_token_delivery_mode": "poll",
                "backchannel_number_entry": true,
            ]
            _ = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.credential.id)/openid", settings
            ).success()
            let id = try #require(begun.json["auth_req_id"]?.string)
            let theirs = try await scene.token(
                [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)], basic: other.credential)
            expectOAuthError(theirs, "invalid_grant")
            #expect(try await scene.poll(begun).status == 200)
        }
    }

    // Spec: CIBA Core 1.0 §10.1; RFC 7240 §4.3.
    @Test("CIBA Core 1.0 §10.1: a request that prefers to wait gets its tokens, or a no, at once")
    func waits() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            async let waited = scene.poll(begun, after: 0, wait: "wait=20")
            try await letItWait()
            try await scene.approve(begun)
            let tokens = try await waited
            #expect(tokens.status == 200 && tokens.json["access_token"] != nil, "\(tokens)")
            let second = try await Self.begin(scene)
            async let denied = scene.poll(second, after: 0, wait: "wait=20")
            try await letItWait()
            try await scene.deny()
            expectOAuthError(try await denied, "access_denied")
        }
    }

    // Spec: RFC 7009 §2.
    @Test("RFC 7009 §2: a client takes its request back, and the phone is told that it is over")
    func revoked() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            let challenge = try await scene.pending()
            let number = try #require(begun.json["number"]?.string)
            let phone = scene.scene.phone
            let question = try await phone.open(challenge).question
            let yes = phone.receipt(of: question, .approved(.confirm, number: EntryNumber(number)))
            let message = try await phone.seal(yes.text)
            let fields = [("token", try #require(begun.json["auth_req_id"]?.string))]
            for _ in 0..<2 {
                let reply = try await scene.token(fields, basic: scene.credential, at: "/oauth2/revoke")
                #expect(reply.status == 200, "\(reply)")
            }
            let late = try await phone.answer(challenge, message: message)
            expectRefusal(late, 409, "already_ended")
            expectOAuthError(try await scene.poll(begun), "access_denied")
        }
    }

    // Modules: -ping-backchannel-notification-endpoint-response-401,
    // -ping-backchannel-notification-endpoint-response-403,
    // -ping-backchannel-notification-endpoint-return-redirect-request
    // Spec: CIBA Core 1.0 §10, §10.2.
    @Test(
        """
        fapi-ciba-id1-ping-backchannel-notification-endpoint-response-*: whatever the client answers to a ping, its \
        token endpoint works
        """, arguments: [200, 204, 302, 401, 403])
    func ping(_ status: Int) async throws {
        try await CallbackReceiver.with(answering: [status]) { receiver in
            var settings = Self.registered
            settings["backchannel_token_delivery_mode"] = "ping"
            settings["backchannel_client_notification_endpoint"] = .string(receiver.url)
            try await SignInPageScene.with(settings) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let hint = ("login_hint", Self.name)
                expectOAuthError(try await Self.begin(scene, [hint]), "invalid_request")
                expectOAuthError(
                    try await Self.begin(scene, [hint, ("client_notification_token", "a b")]), "invalid_request")
                let begun = try await Self.begin(scene, [hint, ("client_notification_token", "t-1")])
                #expect(begun.json["interval"] == 5)
                try await scene.approve(begun)
                let call = try #require(await calls.next())
                #expect(call.headers["authorization"] == "Bearer t-1")
                #expect(call.headers["content-type"] == "application/json")
                let body = try JSONValue(parsing: call.body)
                #expect(body.object?.members.map(\.name) == ["auth_req_id"])
                #expect(body["auth_req_id"] == begun.json["auth_req_id"])
                #expect(try await scene.poll(begun).status == 200)
            }
        }
    }

    // Spec: CIBA Core 1.0 §10.3, §10.3.1, §11, §12.
    @Test("CIBA Core 1.0 §10.3.1: tokens are brought, and so is a no; the token endpoint has nothing")
    func push() async throws {
        try await CallbackReceiver.with { receiver in
            var settings = Self.registered
            settings["backchannel_token_delivery_mode"] = "push"
            settings["backchannel_client_notification_endpoint"] = .string(receiver.url)
            try await SignInPageScene.with(settings) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let fields = [("login_hint", Self.name), ("client_notification_token", "t-1")]
                let begun = try await Self.begin(scene, fields)
                #expect(begun.json.object?.members.map(\.name) == ["auth_req_id", "expires_in", "number"])
                expectOAuthError(try await scene.poll(begun), "unauthorized_client")
                try await scene.approve(begun)
                let call = try #require(await calls.next())
                #expect(call.headers["authorization"] == "Bearer t-1")
                let body = try JSONValue(parsing: call.body)
                #expect(body["auth_req_id"] == begun.json["auth_req_id"] && body["id_token"] != nil)
                let access = try #require(body["access_token"]?.string)
                #expect(try await scene.userinfo(access).json["sub"] == .string(scene.scene.user))
                let second = try await Self.begin(scene, fields)
                try await scene.deny()
                let failure = try JSONValue(parsing: try #require(await calls.next()).body)
                #expect(failure["error"] == "access_denied", "\(failure)")
                #expect(failure["auth_req_id"] == second.json["auth_req_id"])
            }
        }
    }

    // Spec: CIBA Core 1.0 §5; RFC 9449 §5.
    @Test("CIBA Core 1.0 §5: whoever proves a key when it asks gets bound tokens")
    func bound() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let key = TestKey(scene.server)
            let begun = try await key.send(
                .POST, Self.path, [("scope", "openid"), ("login_hint", Self.name)], headers: [scene.basic])
            #expect(begun.status == 200 && begun.headers["dpop-nonce"] != nil, "\(begun)")
            try await scene.approve(begun)
            expectOAuthError(try await scene.poll(begun), "invalid_grant")
            scene.server.clock.advance(seconds: 5)
            let id = try #require(begun.json["auth_req_id"]?.string)
            let tokens = try await key.send(
                .POST, "/oauth2/token", [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)],
                headers: [scene.basic])
            #expect(tokens.status == 200 && tokens.json["token_type"] == "DPoP", "\(tokens)")
        }
    }

    // Modules: -discovery-end-point-verification
    // Spec: CIBA Core 1.0 §4.
    @Test("fapi-ciba-id1-discovery-end-point-verification: the metadata name the endpoint, the modes and the grant")
    func metadata() async throws {
        try await SignInPageScene.with { scene in
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false
            ).json
            #expect(metadata["backchannel_authentication_endpoint"]?.string?.hasSuffix(Self.path) == true)
            #expect(metadata["backchannel_token_delivery_modes_supported"] == ["poll", "ping", "push"])
            #expect(metadata["backchannel_user_code_parameter_supported"] == true)
            let algorithms = metadata["backchannel_authentication_request_signing_alg_values_supported"]?.array
            #expect(algorithms?.compactMap(\.string) == ["ES256", "PS256", "RS256", "EdDSA"])
            let grants = metadata["grant_types_supported"]?.array
            #expect(grants?.contains(.string(OAuthDoor.backchannelGrantType)) == true)
        }
    }

    private static let registrations: [(JSONValue, String?)] = [
        (["backchannel_number_entry": true], "/backchannel_number_entry"),
        (["backchannel_user_code_parameter": true], "/backchannel_user_code_parameter"),
        (
            [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_user_code_parameter": true,
            ], nil
        ),
        (["backchannel_token_delivery_mode": "fax"], "/backchannel_token_delivery_mode"),
        (["backchannel_token_delivery_mode": "poll"], "/backchannel_type"),
        (
            [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_type": "tap",
            ], "/backchannel_type"
        ),
        (["backchannel_token_delivery_mode": "poll", "backchannel_type": "confirm"], "/backchannel_type"),
        (
            ["backchannel_token_delivery_mode": "ping", "backchannel_number_entry": true],
            "/backchannel_client_notification_endpoint"
        ),
        (
            [
                "backchannel_token_delivery_mode": "push", "backchannel_number_entry": true,
                "backchannel_client_notification_endpoint": "http://shop.example.com/ciba",
            ], "/backchannel_client_notification_endpoint"
        ),
        (
            [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_client_notification_endpoint": "https://shop.example.com/ciba",
            ], "/backchannel_client_notification_endpoint"
        ),
        (
            ["profile": "native", "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true],
            "/backchannel_token_delivery_mode"
        ),
        (
            ["ways": ["qr"], "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true],
            "/backchannel_token_delivery_mode"
        ),
        (
            [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_authentication_request_signing_alg": "ES256",
            ], "/backchannel_authentication_request_signing_alg"
        ),
        (
            [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_authentication_request_signing_alg": "none",
            ], "/backchannel_authentication_request_signing_alg"
        ),
        (["backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true], nil),
        (
            [
                "backchannel_token_delivery_mode": "push", "backchannel_number_entry": true,
                "backchannel_client_notification_endpoint": "https://shop.example.com/ciba",
            ], nil
        ),
    ]

    // Spec: CIBA Core 1.0 §4.
    @Test("CIBA Core 1.0 §4: what can be registered, and what cannot", arguments: registrations)
    func settings(_ members: JSONValue, _ pointer: String?) async throws {
        try await Scene.with { scene in
            var body: JSONObject = ["profile": "web", "redirect_uris": []]
            for member in members.object?.members ?? [] { body[member.name] = member.value }
            let path = "/v1/admin/clients/\(scene.shop.credential.id)/openid"
            let reply = try await scene.administrator.call(.PUT, path, .object(body))
            if let pointer {
                expectRefusal(reply, 422, "invalid_member", at: pointer)
            } else {
                let set = try reply.success()
                for member in members.object?.members ?? [] { #expect(set[member.name] == member.value) }
                #expect(try await scene.administrator.call(.GET, path).success() == set)
            }
        }
    }
}
