import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 8628.
@Suite("The device grant over HTTP")
struct DeviceGrantTests {
    private static let name = "customer-1@example.com"
    private static let registered: JSONObject = [
        "profile": "native", "asked_browsers": "all", "device_grant": true, "device_login_hint": true,
    ]

    /// What a device gets that asks.
    private static func begin(
        _ scene: SignInPageScene, _ fields: [(String, String)] = [], basic: (String, String)? = nil
    ) async throws -> Reply {
        let named = basic == nil ? [("client_id", scene.credential.id)] : []
        return try await scene.token(named + fields, basic: basic, at: "/oauth2/device_authorization")
    }

    @Test("RFC 8628 §3.2: what a device gets, with a number only for a name, and the whole address only on request")
    func begins() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            #expect(begun.status == 200 && begun.headers["cache-control"] == "no-store", "\(begun)")
            #expect(
                begun.json.object?.members.map(\.name) == [
                    "device_code", "user_code", "verification_uri", "expires_in", "interval",
                ])
            let code = try #require(begun.json["user_code"]?.string)
            #expect(code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil)
            #expect(begun.json["expires_in"] == 600 && begun.json["interval"] == 5)
            let page = try #require(begun.json["verification_uri"]?.string)
            #expect(page.hasSuffix("/device"))
            let whole = try await Self.begin(
                scene, [("verification_uri_complete", "true"), ("requested_expiry", "60"), ("login_hint", Self.name)])
            let wholeCode = try #require(whole.json["user_code"]?.string)
            #expect(whole.json["verification_uri_complete"] == .string("\(page)?user_code=\(wholeCode)"))
            #expect(whole.json["number"]?.string?.wholeMatch(of: /[0-9]{6}/) != nil)
            #expect((58...60).contains(whole.json["expires_in"]?.integer ?? 0))
            // Unknown parameters are ignored, empty ones are none, and each stands once. Spec: RFC 8628 §3.1.
            #expect(try await Self.begin(scene, [("login_hint", ""), ("x", "y")]).json["number"] == nil)
            expectOAuthError(try await Self.begin(scene, [("scope", "openid"), ("scope", "email")]), "invalid_request")
            for expiry in ["0", "-1", "x", "1.5"] {
                expectOAuthError(try await Self.begin(scene, [("requested_expiry", expiry)]), "invalid_request")
            }
            expectOAuthError(try await Self.begin(scene, [("scope", "offline_access enroll")]), "invalid_scope")
        }
    }

    @Test("OpenID Connect Core 1.0 §3.1.2.1: a device's acr_values choose how its person's phone is asked")
    func strength() async throws {
        var settings = Self.registered
        settings["step_up_types"] = ["pin"]
        try await SignInPageScene.with(settings) { scene in
            _ = try await scene.scene.phone.setPIN()
            let fields = [("login_hint", Self.name), ("acr_values", "unknown urn:countersign:acr:device2")]
            #expect(try await Self.begin(scene, fields).status == 200)
            #expect(try await scene.scene.phone.open(try await scene.pending()).methods == [.pin])
        }
    }

    // Spec: RFC 8628 §3.1.
    @Test("RFC 8628 §3.1: the client authenticates as at the token endpoint, and must be registered for it")
    func clients() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "device_grant": true]) { scene in
            expectOAuthError(try await Self.begin(scene), "invalid_client", 401)
            expectOAuthError(
                try await Self.begin(scene, basic: (scene.credential.id, "wrong")), "invalid_client", 401)
            let begun = try await Self.begin(scene, basic: scene.credential)
            #expect(begun.status == 200, "\(begun)")
            expectOAuthError(try await scene.pollAsDevice(begun), "invalid_client", 401)
            expectOAuthError(try await scene.pollAsDevice(begun, basic: scene.credential), "authorization_pending")
            let hinted = try await Self.begin(scene, [("login_hint", Self.name)], basic: scene.credential)
            expectOAuthError(hinted, "unauthorized_client")
            try await scene.set(["asked_browsers": "all"])
            expectOAuthError(try await Self.begin(scene, basic: scene.credential), "unauthorized_client")
            expectOAuthError(try await scene.pollAsDevice(begun, basic: scene.credential), "unauthorized_client")
            let get = try await scene.server.send(.GET, "/oauth2/device_authorization", isContract: false)
            expectOAuthError(get, "invalid_request", 405)
        }
    }

    @Test("RFC 8628 §3.5: pending, too fast, approved, tokens, and the code is spent")
    func named() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, [("login_hint", Self.name), ("scope", "openid email")])
            let pending = try await scene.pollAsDevice(begun, after: 0)
            expectOAuthError(pending, "authorization_pending")
            #expect(pending.headers["retry-after"] == "5")
            let fast = try await scene.pollAsDevice(begun, after: 0)
            expectOAuthError(fast, "slow_down")
            #expect(fast.headers["retry-after"] == "10")
            try await scene.approve(begun)
            let tokens = try await scene.pollAsDevice(begun, after: 10)
            #expect(tokens.status == 200 && tokens.json["scope"] == "openid email", "\(tokens)")
            #expect(tokens.json["refresh_token"] == nil && tokens.json["id_token"] != nil)
            let access = try #require(tokens.json["access_token"]?.string)
            #expect(try await scene.userinfo(access).json["sub"] == .string(scene.scene.user))
            expectOAuthError(try await scene.pollAsDevice(begun), "invalid_grant")
            #expect(try await scene.userinfo(access).status == 401)
            let missing = try await scene.token([
                ("grant_type", OAuthDoor.deviceGrantType), ("client_id", scene.credential.id),
            ])
            expectOAuthError(missing, "invalid_request")
        }
    }

    @Test("RFC 8628 §3.5: a denial and the end of the time are told apart, and no code of somebody else's is good")
    func refused() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, [("login_hint", Self.name)])
            try await scene.deny()
            expectOAuthError(try await scene.pollAsDevice(begun), "access_denied")
            let late = try await Self.begin(scene, [("requested_expiry", "60")])
            expectOAuthError(try await scene.pollAsDevice(late), "authorization_pending")
            expectOAuthError(try await scene.pollAsDevice(late, after: 60), "expired_token")
            let made = try await scene.token([
                ("grant_type", OAuthDoor.deviceGrantType), ("client_id", scene.credential.id), ("device_code", "x"),
            ])
            expectOAuthError(made, "invalid_grant")
        }
    }

    // Spec: RFC 7240 §2, §4.3.
    @Test("RFC 7240 §4.3: a request that prefers to wait gets its tokens as soon as the person has approved")
    func waits() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, [("login_hint", Self.name)])
            async let waited = scene.pollAsDevice(begun, after: 0, wait: "respond-async, wait=20")
            try await letItWait()
            try await scene.approve(begun)
            let tokens = try await waited
            #expect(tokens.status == 200 && tokens.json["access_token"] != nil, "\(tokens)")
        }
    }

    @Test("A denial and a cancellation end a wait at once")
    func waitsForNo() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let first = try await Self.begin(scene, [("login_hint", Self.name)])
            async let denied = scene.pollAsDevice(first, after: 0, wait: "wait=20")
            try await letItWait()
            try await scene.deny()
            expectOAuthError(try await denied, "access_denied")
            let second = try await Self.begin(scene)
            async let cancelled = scene.pollAsDevice(second, after: 0, wait: "wait=20")
            try await letItWait()
            let code = try #require(second.json["device_code"]?.string)
            let revoked = try await scene.token(
                [("token", code), ("client_id", scene.credential.id)], at: "/oauth2/revoke")
            #expect(revoked.status == 200, "\(revoked)")
            expectOAuthError(try await cancelled, "access_denied")
        }
    }

    // Spec: RFC 7009 §2.
    @Test("RFC 7009 §2: a client takes its device code back, and the phone is told that it is over")
    func revoked() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene, [("login_hint", Self.name)])
            let challenge = try await scene.pending()
            let number = try #require(begun.json["number"]?.string)
            let phone = scene.scene.phone
            let question = try await phone.open(challenge).question
            let yes = phone.receipt(of: question, .approved(.confirm, number: EntryNumber(number)))
            let message = try await phone.seal(yes.text)
            let code = try #require(begun.json["device_code"]?.string)
            let fields = [("token", code), ("client_id", scene.credential.id)]
            for _ in 0..<2 { #expect(try await scene.token(fields, at: "/oauth2/revoke").status == 200) }
            let late = try await phone.answer(challenge, message: message)
            expectRefusal(late, 409, "already_ended")
            expectOAuthError(try await scene.pollAsDevice(begun), "access_denied")
        }
    }

    // Spec: RFC 8628 §3.3, §3.3.1, §5.4.
    @Test("RFC 8628 §3.3: the code is typed, the person signs in, is asked, then their phone")
    func page() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            let code = try #require(begun.json["user_code"]?.string)
            let browser = scene.browser
            let empty = try await browser.get("/device")
            #expect(empty.status == 200 && empty.heading == "Type the code that your device shows", "\(empty.reply)")
            let wrong = try await browser.submit(empty, to: "/device", [("user_code", "BBBB-BBBB")])
            #expect(wrong.status == 200 && wrong.html.contains("No device shows this code now"), "\(wrong.reply)")
            let signIn = try await browser.submit(wrong, to: "/device", [("user_code", code.lowercased())])
            #expect(signIn.heading == "Who is signing in?", "\(signIn.reply)")
            let choose = try await browser.submit(signIn, to: "/signin/choose", [("identifier", Self.name)])
            let asked = try await browser.submit(choose, to: "/signin/ask", [("way", "device")])
            let path = try #require(asked.location)
            try await scene.approve(try await browser.get(path))
            let back = try await browser.get("\(path)/done")
            #expect(back.location == "/device?user_code=\(code)", "\(back.reply)")
            // The address fills the field, and decides nothing.
            let filled = try await browser.get("/device?user_code=\(code)")
            #expect(filled.html.contains("value=\"\(code)\""), "\(filled.reply)")
            let question = try await browser.submit(filled, to: "/device", [("user_code", code)])
            #expect(question.heading == "Did you start this, on a device in front of you?", "\(question.reply)")
            #expect(question.html.contains(code) && question.html.contains("127.0.0.1"))
            let german = try await browser.inGerman(question)
            #expect(german.heading == "Haben Sie das begonnen, auf einem Gerät vor Ihnen?")
            let yes = try await browser.submit(question, to: "/device/confirm", [("decision", "yes")])
            #expect(yes.status == 303, "\(yes.reply)")
            let wait = try #require(yes.location)
            let number = try await browser.get(wait)
            #expect(number.heading == "Type this number on your phone", "\(number.reply)")
            expectOAuthError(try await scene.pollAsDevice(begun), "authorization_pending")
            try await scene.approve(number)
            #expect(try await browser.get("\(wait)/state").reply.json["state"] == "approved")
            #expect(try await browser.get(wait).heading == "Go on at your device")
            let tokens = try await scene.pollAsDevice(begun)
            #expect(tokens.status == 200, "\(tokens)")
            #expect(try await browser.get(wait).heading == "Go on at your device")
            // The code is spent.
            let again = try await browser.submit(filled, to: "/device", [("user_code", code)])
            #expect(again.html.contains("No device shows this code now"), "\(again.reply)")
        }
    }

    @Test("A no on the page, a no on the phone, and nobody in time each have their page, and the device learns it")
    func pageOfNo() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            _ = try await scene.signIn()
            func question() async throws -> (begun: Reply, page: Page) {
                let begun = try await Self.begin(scene)
                let code = try #require(begun.json["user_code"]?.string)
                let page = try await scene.browser.submit(
                    try await scene.browser.get("/device"), to: "/device", [("user_code", code)])
                return (begun, page)
            }
            let first = try await question()
            let refused = try await scene.browser.submit(first.page, to: "/device/confirm", [("decision", "no")])
            #expect(refused.heading == "The device was refused", "\(refused.reply)")
            expectOAuthError(try await scene.pollAsDevice(first.begun), "access_denied")
            let twice = try await scene.browser.submit(first.page, to: "/device/confirm", [("decision", "yes")])
            #expect(twice.status == 404, "\(twice.reply)")
            let second = try await question()
            let yes = try await scene.browser.submit(second.page, to: "/device/confirm", [("decision", "yes")])
            let wait = try #require(yes.location, "\(yes.reply)")
            try await scene.deny()
            #expect(try await scene.browser.get("\(wait)/state").reply.json["state"] == "declined")
            #expect(try await scene.browser.get(wait).heading == "The device was refused")
            expectOAuthError(try await scene.pollAsDevice(second.begun), "access_denied")
            let third = try await question()
            let path = try #require(
                try await scene.browser.submit(third.page, to: "/device/confirm", [("decision", "yes")]).location)
            scene.server.clock.advance(seconds: 120)
            let ended = try await scene.browser.get(path)
            #expect(ended.heading == "Not approved in time" && ended.html.contains("/device?user_code="))
            expectOAuthError(try await scene.pollAsDevice(third.begun), "authorization_pending")
        }
    }

    // Spec: RFC 8628 §5.1.
    @Test("RFC 8628 §5.1: after five wrong codes nobody types another one in this browser; other sites type none")
    func guesses() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let begun = try await Self.begin(scene)
            let code = try #require(begun.json["user_code"]?.string)
            let page = try await scene.browser.get("/device")
            for _ in 0..<5 {
                let wrong = try await scene.browser.submit(page, to: "/device", [("user_code", "BBBB-BBBB")])
                #expect(wrong.status == 200, "\(wrong.reply)")
            }
            let limited = try await scene.browser.submit(page, to: "/device", [("user_code", code)])
            #expect(limited.status == 429 && limited.reply.headers["retry-after"] != nil, "\(limited.reply)")
            for form in [[("user_code", code)], [("request", "x"), ("user_code", code)]] {
                let foreign = try await scene.browser.post("/device", form)
                #expect(foreign.status == 400 && foreign.heading == "This page is too old", "\(foreign.reply)")
            }
        }
    }

    @Test("RFC 8628 §4: the metadata names the endpoint and the grant")
    func metadata() async throws {
        try await SignInPageScene.with { scene in
            let metadata = try await scene.server.send(.GET, "/.well-known/openid-configuration", isContract: false)
            let endpoint = try #require(metadata.json["device_authorization_endpoint"]?.string)
            #expect(endpoint.hasSuffix("/oauth2/device_authorization"))
            let grants = metadata.json["grant_types_supported"]?.array
            #expect(grants?.contains(.string(OAuthDoor.deviceGrantType)) == true)
        }
    }

    @Test(
        "A name is taken only with the grant, and where devices are asked; a device needs no place to return to",
        arguments: [
            (["device_login_hint": true], "/device_login_hint"),
            (["device_grant": true, "device_login_hint": true, "ways": ["qr"]], "/device_login_hint"),
            (["device_grant": "yes"], "/device_grant"), (["redirect_uris": []], "/redirect_uris"),
            (["redirect_uris": [], "device_grant": true], nil),
            (["device_grant": true, "device_login_hint": true], nil),
        ] as [(JSONValue, String?)])
    func settings(_ members: JSONValue, _ pointer: String?) async throws {
        try await Scene.with { scene in
            var body: JSONObject = ["profile": "native", "redirect_uris": ["https://shop.example.com/callback"]]
            for member in members.object?.members ?? [] { body[member.name] = member.value }
            let path = "/v1/admin/clients/\(scene.shop.credential.id)/openid"
            let reply = try await scene.administrator.call(.PUT, path, .object(body))
            if let pointer {
                expectRefusal(reply, 422, "invalid_member", at: pointer)
            } else {
                let set = try reply.success()
                #expect(set["device_grant"] == true)
                #expect(set["device_login_hint"] == members["device_login_hint"])
                #expect(try await scene.administrator.call(.GET, path).success() == set)
            }
        }
    }
}
