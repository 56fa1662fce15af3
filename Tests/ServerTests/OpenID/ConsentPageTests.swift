import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect Core 1.0 §3.1.2.4, §3.1.2.6 and §11.
@Suite("What a third party gets is what the person has allowed it")
struct ConsentPageTests {
    /// A scene whose browser is signed in at the shop by a confirmed phone, and a third party that takes anybody.
    private static func with(
        _ settings: JSONObject = [:], isThirdParty: Bool = true,
        _ body: @escaping @Sendable (SignInPageScene, SignInPageScene) async throws -> Void
    ) async throws {
        try await SignInPageScene.with { shop in
            let made = try await shop.server.makeClient(
                "Calendar",
                isThirdParty
                    ? [
                        "third_party": true, "waive_enrollment_approval": true,
                        "rights": ["challenges", "enrollments", "users"],
                    ] : [:])
            let third = SignInPageScene(scene: shop.scene, browser: shop.browser, credential: made.credential)
            var all: JSONObject = ["asked_browsers": "all", "registration": "open"]
            for member in settings.members { all[member.name] = member.value }
            try await third.set(all)
            _ = try await shop.signIn()
            try await body(shop, third)
        }
    }

    private static func confirm(_ scene: SignInPageScene, _ phone: TestPhone? = nil) async throws {
        let path = "/v1/admin/enrollments/\((phone ?? scene.scene.phone).enrollment)/confirm"
        #expect(try await scene.scene.administrator.call(.POST, path).status == 204)
    }

    private static let heading = "Allow Calendar to use your account?"

    @Test("A session of a device that the person has not confirmed says nothing at a third party")
    func unconfirmed() async throws {
        try await Self.with { shop, third in
            let before = try await shop.browser.get(third.request())
            #expect(before.heading == "Who is signing in?", "\(before.reply)")
            let silent = try await shop.browser.get(third.request(["prompt": "none"]))
            #expect(silent.result["error"] == "login_required")
            try await Self.confirm(shop)
            #expect(try await shop.browser.get(third.request()).heading == Self.heading)
            let device = try await shop.scene.shop.call(.GET, "/v1/users/\(shop.scene.user)/enrollments").success()
            #expect(device["enrollments"]?.array?.first?["confirmed_at"]?.string != nil)
            let unknown = "/v1/admin/enrollments/\(shop.scene.user.replacing("usr_", with: "enr_"))/confirm"
            #expect(try await shop.scene.administrator.call(.POST, unknown).json["code"] == "enrollment_not_found")
        }
    }

    // Spec: RFC 8628 §3.3.
    @Test("The page about a device names what a yes allows, once more where it has been taken back since")
    func device() async throws {
        try await Self.with(["device_grant": true]) { shop, third in
            try await Self.confirm(shop)
            let page = try await shop.browser.get(third.request())
            _ = try await shop.browser.submit(page, to: "/signin/consent", [("decision", "allow")])
            let begun = try await third.token([], basic: third.credential, at: "/oauth2/device_authorization")
            let code = try #require(begun.json["user_code"]?.string, "\(begun)")
            let item = "Know you again"
            let question = try await shop.browser.submit(
                try await shop.browser.get("/device"), to: "/device", [("user_code", code)])
            let heading = "Did you start this, on a device in front of you?"
            #expect(question.heading == heading && !question.html.contains(item), "\(question.reply)")
            let unlinked = try await shop.server.caller(third).call(.DELETE, "/v1/users/\(shop.scene.user)")
            #expect(unlinked.status == 204, "\(unlinked)")
            let anew = try await shop.browser.submit(question, to: "/device/confirm", [("decision", "yes")])
            #expect(anew.heading == heading && anew.html.contains(item), "\(anew.reply)")
            expectOAuthError(try await third.pollAsDevice(begun, basic: third.credential), "authorization_pending")
            let yes = try await shop.browser.submit(anew, to: "/device/confirm", [("decision", "yes")])
            try await shop.approve(try await shop.browser.get(try #require(yes.location, "\(yes.reply)")))
            let tokens = try await third.pollAsDevice(begun, basic: third.credential)
            #expect(tokens.status == 200, "\(tokens)")
        }
    }

    @Test("A device that its user has not confirmed scans no code of another group's client")
    func scans() async throws {
        try await Self.with { shop, third in
            try await Self.confirm(shop)
            let page = try await shop.browser.get(third.request())
            _ = try await shop.browser.submit(page, to: "/signin/consent", [("decision", "allow")])
            let planted = try await TestPhone.enrolled(
                for: shop.scene.user, by: shop.server.caller(third), at: shop.server)
            let question: JSONValue = ["type": "qr", "message": "Sign in to ACME?"]
            let asked = try await shop.scene.shop.call(.POST, "/v1/challenges", question).success()
            let code = try #require(asked["code"]?["qr"]?.string.flatMap { ChallengeCode($0) }).claim
            expectRefusal(
                try await planted.send(.POST, "/v1/challenges/claim", code), 403, "enrollment_not_confirmed")
            try await Self.confirm(shop, planted)
            #expect(try await planted.send(.POST, "/v1/challenges/claim", code).status == 204)
        }
    }

    @Test("In a session: the page once, then no page; refusing gives access_denied, and more scopes are asked for anew")
    func session() async throws {
        try await Self.with { shop, third in
            try await Self.confirm(shop)
            let wanted: KeyValuePairs<String, String?> = ["scope": "openid email offline_access"]
            let page = try await shop.browser.get(third.request(wanted))
            #expect(page.heading == Self.heading && page.status == 200)
            for part in ["Know you again", "See your email address", "As soon as there is one", "Stay signed in"] {
                #expect(page.html.contains(part), "\(part)")
            }
            let silent = try await shop.browser.get(
                third.request(["scope": "openid email offline_access", "prompt": "none"]))
            #expect(silent.result["error"] == "consent_required" && silent.result["state"] == "s-1")
            // Nothing but the press of a button is an answer.
            let german = try await shop.browser.submit(page, to: "/signin/consent", [("ui_locales", "de")])
            #expect(german.heading == "Calendar erlauben, Ihr Konto zu nutzen?" && german.result["code"] == nil)
            #expect(try await shop.browser.submit(page, to: "/signin/go-on").heading == Self.heading)
            let refused = try await shop.browser.submit(page, to: "/signin/consent", [("decision", "refuse")])
            #expect(refused.result["error"] == "access_denied" && refused.result["state"] == "s-1")
            #expect(try await shop.browser.get(third.request(wanted)).heading == Self.heading)
            let allowed = try await shop.browser.submit(page, to: "/signin/consent", [("decision", "allow")])
            let tokens = try await third.redeem(try #require(allowed.result["code"], "\(allowed.reply)"))
            #expect(tokens.json["refresh_token"]?.string != nil, "\(tokens)")
            for scopes in ["openid email offline_access", "openid email", "openid"] {
                #expect(try await shop.browser.get(third.request(["scope": scopes])).result["code"] != nil, "\(scopes)")
            }
            #expect(try await shop.browser.get(third.request(["scope": "openid phone"])).heading == Self.heading)
            let again = try await shop.browser.get(third.request(["scope": "openid", "prompt": "consent"]))
            #expect(again.heading == Self.heading)
            #expect(
                try await shop.browser.submit(again, to: "/signin/consent", [("decision", "allow")]).result["code"]
                    != nil)
            // What was allowed before stays.
            #expect(try await shop.browser.get(third.request(wanted)).result["code"] != nil)
        }
    }

    @Test("The page of somebody else's browser, or of another request, is no answer")
    func foreignPages() async throws {
        try await Self.with { shop, third in
            try await Self.confirm(shop)
            let page = try await shop.browser.get(third.request())
            let thief = TestBrowser(shop.server)
            _ = try await thief.get(third.request())
            let stolen = try await thief.submit(page, to: "/signin/consent", [("decision", "allow")])
            #expect(stolen.status == 400 && stolen.result["code"] == nil)
            // A page without the question holds no answer to it.
            let other = try await shop.browser.get(shop.request(["prompt": "login"]))
            let answered = try await shop.browser.submit(other, to: "/signin/consent", [("decision", "allow")])
            #expect(answered.result["code"] == nil, "\(answered.reply)")
            #expect(try await shop.browser.get(third.request()).heading == Self.heading)
            // Without a session the person signs in.
            let left = shop.browser.copy(without: "session")
            let late = try await left.submit(page, to: "/signin/consent", [("decision", "allow")])
            #expect(late.heading == "Who is signing in?", "\(late.reply)")
        }
    }

    @Test("After signing in: the page comes before the code, and the client gets nothing that is refused")
    func afterSigningIn() async throws {
        try await Self.with { shop, third in
            try await Self.confirm(shop)
            // The client knows the person from now on.
            let first = try await shop.browser.get(third.request())
            _ = try await shop.browser.submit(first, to: "/signin/consent", [("decision", "allow")])
            let claim: JSONValue = ["email": "customer-1@example.com"]
            _ = try await shop.server.caller(third).call(.PATCH, "/v1/users/\(shop.scene.user)", claim).success()
            let changes: KeyValuePairs<String, String?> = ["scope": "openid email", "prompt": "login"]
            let (path, number) = try await third.numberPage("customer-1", changes)
            try await third.approve(number)
            let page = try await shop.browser.get("\(path)/done")
            #expect(page.heading == Self.heading && page.result["code"] == nil, "\(page.reply)")
            #expect(try await shop.browser.get("\(path)/done").heading == Self.heading)
            let german = try await shop.browser.submit(page, to: "\(path)/consent", [("ui_locales", "de")])
            #expect(german.heading == "Calendar erlauben, Ihr Konto zu nutzen?")
            let allowed = try await shop.browser.submit(page, to: "\(path)/consent", [("decision", "allow")])
            #expect(try await third.redeem(try #require(allowed.result["code"])).status == 200)
            // Refused, the sign-in is over.
            let (again, another) = try await third.numberPage(
                "customer-1", ["scope": "openid email phone", "prompt": "login"])
            try await third.approve(another)
            let question = try await shop.browser.get("\(again)/done")
            let crossed = try await shop.browser.submit(question, to: "\(path)/consent", [("decision", "allow")])
            #expect(crossed.status == 404 && crossed.result["code"] == nil)
            let refused = try await shop.browser.submit(question, to: "\(again)/consent", [("decision", "refuse")])
            #expect(refused.result["error"] == "access_denied")
            let late = try await shop.browser.submit(question, to: "\(again)/consent", [("decision", "allow")])
            #expect(late.status == 404 && late.result["code"] == nil)
        }
    }

    @Test("A client of the operator's asks nobody, unless it wants to")
    func firstParty() async throws {
        try await Self.with(isThirdParty: false) { shop, other in
            #expect(try await shop.browser.get(other.request(["scope": "openid email"])).result["code"] != nil)
            let page = try await shop.browser.get(other.request(["prompt": "consent"]))
            #expect(page.heading == Self.heading)
            let silent = try await shop.browser.get(other.request(["prompt": "consent none"]))
            #expect(silent.result["error"] == "invalid_request")
            let allowed = try await shop.browser.submit(page, to: "/signin/consent", [("decision", "allow")])
            #expect(allowed.result["code"] != nil)
        }
    }

    @Test("RFC 8252 §8.6: at an app a signed-in person says that they go on, or signs in as somebody else")
    func app() async throws {
        try await Self.with(["profile": "native"], isThirdParty: false) { shop, app in
            // The page would show an address, and the app knows none.
            #expect(try await shop.browser.get(app.request()).heading == "Who is signing in?")
            let linked = try await shop.browser.get(app.request(["prompt": "none"]))
            #expect(linked.result["error"] == "interaction_required")
            try await shop.set(["profile": "native", "asked_browsers": "all"])
            let page = try await shop.browser.get(shop.request())
            #expect(page.heading == "You are signed in already" && page.html.contains("customer-1@example.com"))
            let german = try await shop.browser.submit(page, to: "/signin/go-on", [("ui_locales", "de")])
            #expect(german.heading == "Sie sind schon angemeldet" && german.result["code"] == nil)
            #expect(try await shop.browser.submit(page, to: "/signin/start").heading == "Who is signing in?")
            let gone = try await shop.browser.submit(page, to: "/signin/go-on")
            #expect(gone.result["code"] != nil && gone.result["state"] == "s-1", "\(gone.reply)")
        }
    }
}

extension TestServer {
    /// The client of a scene, as the caller of the native API.
    fileprivate func caller(_ scene: SignInPageScene) -> Caller {
        let pair = "\(scene.credential.id):\(scene.credential.secret)"
        return caller("Basic \(Base64.encode(Array(pair.utf8)))")
    }
}
