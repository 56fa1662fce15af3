import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0097-user-code.md; CIBA Core 1.0 §7.1, §7.1.2, §13.
@Suite("The code without which no server has a person asked, over HTTP", .timeLimit(.minutes(15)))
struct UserCodePageTests {
    private static let path = "/account/request-code"
    private static let name = "customer-1@example.com"
    private static let code = "Blue-4711 kite"
    private static let registered: JSONObject = [
        "asked_browsers": "all", "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
        "backchannel_user_code_parameter": true,
    ]

    private static func begin(
        _ scene: SignInPageScene, _ code: String?, for name: String = UserCodePageTests.name
    ) async throws -> Reply {
        var fields = [("scope", "openid"), ("login_hint", name)]
        if let code { fields.append(("user_code", code)) }
        return try await scene.token(fields, basic: scene.credential, at: "/oauth2/bc-authorize")
    }

    // Spec: CIBA Core 1.0 §7.1, §13.
    @Test("CIBA Core 1.0 §13: missing_user_code and invalid_user_code do not tell who exists")
    func errors() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            for name in [Self.name, "nobody@example.com", "external_id:nobody"] {
                for code in [nil, ""] {
                    let missing = try await Self.begin(scene, code, for: name)
                    #expect(missing.status == 400 && missing.json["error"] == "missing_user_code", "\(missing)")
                    #expect(missing.headers["cache-control"] == "no-store")
                }
                for code in ["12345", "111111", "123456", "13579ä"] {
                    let invalid = try await Self.begin(scene, code, for: name)
                    #expect(invalid.status == 400 && invalid.json["error"] == "invalid_user_code", "\(invalid)")
                }
                // What may be somebody's is never called wrong.
                let begun = try await Self.begin(scene, Self.code, for: name)
                #expect(
                    begun.json.object?.members.map(\.name) == ["auth_req_id", "expires_in", "interval", "number"])
                #expect(try await scene.poll(begun).json["error"] == "authorization_pending")
            }
            var settings = Self.registered
            settings["backchannel_user_code_parameter"] = nil
            try await scene.set(settings)
            for name in [Self.name, "nobody@example.com"] {
                let unasked = try await Self.begin(scene, Self.code, for: name)
                #expect(unasked.status == 400 && unasked.json["error"] == "invalid_request", "\(unasked)")
            }
        }
    }

    // Spec: CIBA Core 1.0 §7.1, §7.1.2.
    @Test("The person sets a code on their account page, is asked by it alone, and removes it")
    func sets() async throws {
        try await AccountPageTests.with { scene in
            #expect(try await !scene.browser.get("/account").html.contains(Self.path))
            #expect(try await scene.browser.get(Self.path).location == "/account")
            try await scene.set(Self.registered)
            #expect(try await scene.browser.get("/account").html.contains(Self.path))
            let page = try await scene.browser.get(Self.path)
            #expect(page.status == 200 && page.heading == "Request code", "\(page.reply)")
            let german = try await scene.browser.get("\(Self.path)?ui_locales=de")
            #expect(german.heading == "Anfragecode")
            for typed in ["", "12345", "111111"] {
                let again = try await scene.browser.submit(page, to: Self.path, [("code", typed)])
                #expect(again.status == 200 && again.problem != nil && again.heading == page.heading, "\(typed)")
            }
            let set = try await scene.browser.submit(page, to: Self.path, [("code", Self.code)])
            #expect(set.status == 200 && set.html.contains("The request code was set."), "\(set.reply)")
            #expect(!set.html.contains("Blue-4711"))
            let wrong = try await Self.begin(scene, "blue4711kites")
            let right = try await Self.begin(scene, "blue 4711 kite")
            try await scene.approve(right)
            #expect(try await scene.poll(right).status == 200)
            #expect(try await scene.poll(wrong).json["error"] == "authorization_pending")
            let again = try await scene.browser.get(Self.path)
            let removed = try await scene.browser.submit(again, to: "\(Self.path)/remove")
            #expect(removed.status == 200 && removed.html.contains("The request code was removed."))
            for kind in ["user_code.set", "user_code.removed"] {
                let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=\(kind)").success()
                let event = try #require(events["events"]?.array?.last, "\(kind)")
                #expect(event["actor"]?.string == "user:\(scene.scene.user)")
            }
        }
    }

    @Test("An old session authenticates anew first, and a form of another page does nothing")
    func refused() async throws {
        try await AccountPageTests.with { scene in
            try await scene.set(Self.registered)
            let page = try await scene.browser.get(Self.path)
            let signIn = try await scene.browser.get(scene.request(["prompt": "login"]))
            for path in [Self.path, "\(Self.path)/remove"] {
                let reply = try await scene.browser.submit(signIn, to: path, [("code", Self.code)])
                #expect(reply.status == 400 && reply.heading == "This page is too old", "\(reply.reply)")
            }
            scene.server.clock.advance(seconds: 300)
            let late = try await scene.browser.submit(page, to: Self.path, [("code", Self.code)])
            #expect(late.status == 200 && !late.html.contains("was set"), "\(late.reply)")
            #expect(try await scene.browser.get(Self.path).heading != "Request code")
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=user_code.set").success()
            #expect(events["events"]?.array?.isEmpty == true)
        }
    }
}
