import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/protocol/enrollment.md, *An invitation for an access token*; RFC 6750 §2.1 and §3.1.
@Suite("A ticket for an access token")
struct EnrollScopeTests {
    /// What a caller without a token is told. Spec: RFC 9449 §7.1.
    private static let challenges = "Bearer, DPoP algs=\"ES256 EdDSA\""

    private func token(
        _ scene: SignInPageScene, _ changes: KeyValuePairs<String, String?> = ["scope": "openid enroll"]
    ) async throws -> (token: String, scope: String) {
        let code = try #require(try await scene.signIn(changes).result["code"])
        let given = try await scene.redeem(code).success()
        return (try #require(given["access_token"]?.string), try #require(given["scope"]?.string))
    }

    private func exchange(_ authorization: String?, in scene: SignInPageScene) async throws -> Reply {
        try await scene.server.send(
            .POST, "/v1/enrollment-tickets", headers: authorization.map { [("Authorization", $0)] } ?? [])
    }

    @Test("It is an invitation like any other, and enrolls one device")
    func enrolls() async throws {
        try await SignInPageScene.with { scene in
            let (token, scope) = try await token(scene)
            #expect(scope == "openid enroll")
            let reply = try await exchange("Bearer \(token)", in: scene)
            #expect(reply.status == 201 && reply.headers["cache-control"] == "no-store", "\(reply)")
            let ticket = try reply.success()
            #expect(try await exchange("bearer \(token)", in: scene).json == ticket, "a repeated request")
            let phone = try await TestPhone(
                invitation: try #require(ticket["qr"]?.string), server: scene.server)
            #expect("\(phone.user)" == scene.scene.user && phone.invitation.issuer == scene.server.issuer)
            let enrolled = try await phone.enroll()
            #expect(enrolled.status == 201 && enrolled.json["approval"] != nil, "\(enrolled)")
            let again = try await exchange("Bearer \(token)", in: scene)
            #expect(again.refusal == Refusal(403, "ticket_used"))
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=ticket.created")
                .success()
            let event = try #require(events["events"]?.array?.last)
            #expect(event["actor"] == .string("client:\(scene.credential.id)"))
            #expect(event["detail"]?["sign_in"] == true && event["detail"]?["waiver"] == false, "\(event)")
        }
    }

    @Test("RFC 6750 §3.1: no token, a bad one and one for other things are told apart")
    func refused() async throws {
        try await SignInPageScene.with { scene in
            let none = try await exchange(nil, in: scene)
            #expect(none.refusal == Refusal(401, "unauthorized"))
            #expect(none.headers["www-authenticate"] == Self.challenges)
            let secret = Base64.encode(Array("\(scene.credential.id):\(scene.credential.secret)".utf8))
            let basic = try await exchange("Basic \(secret)", in: scene)
            #expect(basic.refusal == Refusal(401, "unauthorized"))
            #expect(basic.headers["www-authenticate"] == Self.challenges)
            let bad = try await exchange("Bearer a.b.c", in: scene)
            #expect(bad.refusal == Refusal(401, "unauthorized"))
            #expect(bad.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
            let (token, _) = try await token(scene, [:])
            let other = try await exchange("Bearer \(token)", in: scene)
            #expect(other.refusal == Refusal(403, "scope_missing") && other.json["scope"] == "enroll")
        }
    }

    @Test("What gives no ticket has its own code: too old a sign-in, too weak a one, a user whom the client blocks")
    func codes() async throws {
        try await SignInPageScene.with([
            "asked_browsers": "all", "ways": ["device", "email"], "registration": "open",
        ]) { scene in
            let code = try #require(try await scene.signIn(["scope": "openid enroll"]).result["code"])
            scene.server.clock.advance(seconds: 30)
            let late = try #require(try await scene.redeem(code).success()["access_token"]?.string)
            scene.server.clock.advance(seconds: 570)
            #expect(try await exchange("Bearer \(late)", in: scene).refusal == Refusal(403, "sign_in_too_old"))
            let mail = try await scene.signInByMail("customer-2@example.com", ["scope": "openid enroll"])
            let given = try await scene.redeem(try #require(mail.result["code"])).success()
            #expect(given["scope"] == "openid enroll")
            let bearer = "Bearer \(try #require(given["access_token"]?.string))"
            let ticket = try await exchange(bearer, in: scene).success()
            let user = try #require(ticket["user"]?.string)
            _ = try await TestPhone.enrolled(for: user, by: scene.scene.shop, at: scene.server)
            #expect(try await exchange(bearer, in: scene).refusal == Refusal(403, "sign_in_too_weak"))
            let blocked = try await scene.scene.shop.call(
                .PATCH, "/v1/users/\(user)", ["enrollment_blocked": true])
            #expect(blocked.status == 200, "\(blocked)")
            #expect(try await exchange(bearer, in: scene).refusal == Refusal(403, "enrollment_blocked"))
        }
    }

    @Test("The scope asks for a sign-in of the last five minutes, and is a client's that has the right")
    func asked() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            let request = scene.request(["scope": "openid enroll", "prompt": "none"])
            #expect(try await scene.browser.get(request).result["code"] != nil)
            scene.server.clock.advance(seconds: 301)
            #expect(try await scene.browser.get(request).result["error"] == "login_required")
            #expect(try await scene.browser.get(scene.request(["prompt": "none"])).result["code"] != nil)
            let rights: JSONValue = ["rights": ["challenges", "users"]]
            let path = "/v1/admin/clients/\(scene.credential.id)"
            #expect(try await scene.scene.administrator.call(.PATCH, path, rights).status == 200)
            let code = try #require(try await scene.browser.get(request).result["code"])
            #expect(try await scene.redeem(code).success()["scope"] == "openid")
        }
    }

    @Test("A third party's page says that it may add a device")
    func consent() async throws {
        try await SignInPageScene.with { shop in
            let made = try await shop.server.makeClient(
                "Calendar", ["third_party": true, "rights": ["challenges", "enrollments", "users"]])
            let third = SignInPageScene(scene: shop.scene, browser: shop.browser, credential: made.credential)
            try await third.set(["asked_browsers": "all", "registration": "open"])
            _ = try await shop.signIn()
            let path = "/v1/admin/enrollments/\(shop.scene.phone.enrollment)/confirm"
            #expect(try await shop.scene.administrator.call(.POST, path).status == 204)
            let page = try await shop.browser.get(third.request(["scope": "openid enroll"]))
            #expect(page.html.contains("Add a device"), "\(page.reply)")
        }
    }
}
