import CountersignWire
import Crypto
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter: an address is proved on the page, and the app gets it with tokens")
struct CotterIdentityTests {
    /// The form of the verifier of Cotter's SDK for React Native: base64, and no base64url.
    private static let plainVerifier = "+/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// An address, and what the replies call its kind.
    private struct Proof: Sendable {
        let address: String
        let type: String
        /// The claim of userinfo that has it, and the one for an address of the other kind.
        let claim: String
        let otherClaim: String

        static let mail = Proof(
            address: "putri@example.com", type: "EMAIL", claim: "email", otherClaim: "phone_number")
        static let phone = Proof(
            address: "+15551234567", type: "PHONE", claim: "phone_number", otherClaim: "email")
    }

    @Test("The page, the redirect, and the reply as the documents have it")
    func happyFlow() async throws {
        try await CotterScene.with { scene in
            let page = try await scene.prove(Proof.mail.address, in: TestBrowser(scene.server))
            try await Self.expectIdentity(of: .mail, after: page, scene)
        }
    }

    @Test("The type PHONE, as in the documents' own address: a number, a code in a text message, and the same reply")
    func phone() async throws {
        let settings: JSONObject = ["ways": ["device", "email", "text"], "calling_codes": ["+1555"]]
        try await CotterScene.with(settings) { scene in
            let page = try await scene.prove(
                Proof.phone.address, ["type": "PHONE"], in: TestBrowser(scene.server), by: "text")
            try await Self.expectIdentity(of: .phone, after: page, scene)
        }
    }

    /// Expects the redirect and, for what it has, the identity.
    private static func expectIdentity(of proof: Proof, after page: Page, _ scene: CotterScene) async throws {
        let result = page.result
        #expect(Set(result.keys) == ["code", "state", "challenge_id"] && result["state"] == CotterScene.state)
        #expect((page.location ?? page.onward)?.hasPrefix("yourapp://?code=") == true, "\(page.reply)")
        let reply = try await scene.identity(scene.redemption(result)).success()
        #expect(reply.object?.members.map(\.name) == ["identifier", "oauth_token", "token", "user"])
        try expectIdentifier(try #require(reply["identifier"]), proof)
        let id = reply["user"]?["ID"]?.string
        try await expectTokens(try #require(reply["oauth_token"]), proof, of: scene, id)
        try await expectToken(try #require(reply["token"]), proof, of: scene)
        let user = try #require(reply["user"])
        #expect(user["identifier"] == .string(proof.address) && user["issuer"] == .string(scene.key))
        #expect(user["client_user_id"] == "" && user["enrolled"] == [])
    }

    private static func expectIdentifier(_ identifier: JSONValue, _ proof: Proof) throws {
        let names: Set<String> = [
            "ID", "created_at", "updated_at", "deleted_at", "identifier", "identifier_type", "device_type",
            "device_name", "expiry", "timestamp",
        ]
        #expect(names.isSubset(of: Set(identifier.object?.members.map(\.name) ?? [])))
        #expect(identifier["identifier"] == .string(proof.address))
        #expect(identifier["identifier_type"] == .string(proof.type))
        #expect(identifier["device_type"] == "BROWSER" && identifier["deleted_at"] == "0001-01-01T00:00:00Z")
        #expect(UUID(uuidString: identifier["ID"]?.string ?? "") != nil)
        let time = try #require(identifier["timestamp"]?.string.flatMap { Timestamp($0) })
        #expect(identifier["expiry"]?.string.flatMap { Timestamp($0) } == time.adding(.days(30)))
        // Cotter's SDK for iOS reads nothing without it.
        #expect(identifier["public_key"] == "")
    }

    private static func expectTokens(
        _ tokens: JSONValue, _ proof: Proof, of scene: CotterScene, _ user: String?
    ) async throws {
        #expect(
            tokens.object?.members.map(\.name) == [
                "access_token", "id_token", "refresh_token", "expires_in", "token_type", "auth_method",
            ])
        #expect(tokens["token_type"] == "Bearer" && tokens["auth_method"] == "OTP" && tokens["expires_in"] == 600)
        let info = try await scene.userinfo(try #require(tokens["access_token"]?.string)).success()
        #expect(info[proof.claim] == .string(proof.address) && info["\(proof.claim)_verified"] == true, "\(info)")
        #expect(info["sub"]?.string == user && info[proof.otherClaim] == nil)
    }

    private static func expectToken(_ token: JSONValue, _ proof: Proof, of scene: CotterScene) async throws {
        let end = try #require(token["expire_at"]?.string)
        let signature = try #require(token["signature"]?.string)
        #expect(token["identifier"] == .string(proof.address) && token["identifier_type"] == .string(proof.type))
        #expect(token["receiver"] == .string(scene.key))
        #expect(Int64(end) == (token["timestamp"]?.string.flatMap { Int64($0) }).map { $0 + 600 })
        #expect(try await scene.isSigned("\(proof.address)\(proof.type)\(scene.key)\(end)", by: signature))
        #expect(try await !scene.isSigned("anna@example.com\(proof.type)\(scene.key)\(end)", by: signature))
    }

    @Test("Whatever does not fit is Challenge Expired, and leaves the code good for who has it")
    func refused() async throws {
        try await CotterScene.with { scene in
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            let settings: JSONValue = [
                "profile": "compatible", "redirect_uris": [.string(CotterScene.redirectURI)], "ways": ["email"],
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.clientID)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            let good = scene.redemption(result)
            let number = try #require(good["challenge_id"]?.integer)
            for (name, value) in [
                ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK"), ("code_verifier", ""),
                ("authorization_code", "SplxlOBeZQQYbYS6WxSbIA"), ("challenge_id", .integer(number + 1)),
                ("challenge_id", -1), ("redirect_url", "yourapp://x"), ("redirect_url", ""),
            ] as [(String, JSONValue)] {
                var body = good
                body[name] = value
                expectMessage(try await scene.identity(body), 500, "Challenge Expired")
            }
            expectMessage(try await scene.identity(good, key: other.clientID), 500, "Challenge Expired")
            // Some apps send the number as the text that they have read.
            var text = good
            text["challenge_id"] = .string("\(number)")
            #expect(try await scene.identity(text).status == 200)
        }
    }

    @Test("A code that comes twice is Challenge Expired, and what it gave ends")
    func twice() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            let first = try await scene.identity(scene.redemption(result)).success()
            let tokens = try #require(first["oauth_token"])
            expectMessage(try await scene.identity(scene.redemption(result)), 500, "Challenge Expired")
            let access = try #require(tokens["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 401)
            let body: JSONValue = [
                "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] ?? .null,
            ]
            expectMessage(try await scene.post("/token", body), 400, "The refresh token is not valid")
        }
    }

    @Test("Eight requests with one code at once: at most one gets an identity, and its tokens do not stay good")
    func atOnce() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<8 { group.addTask { try await scene.identity(scene.redemption(result)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let good = replies.filter { $0.status == 200 }
            #expect(good.count == 1 && replies.count { $0.status == 500 } == 7)
            let access = try #require(good.first?.json["oauth_token"]?["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 401)
        }
    }

    @Test("After its time a code is Challenge Expired")
    func late() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            scene.server.clock.advance(.minutes(5))
            expectMessage(try await scene.identity(scene.redemption(result)), 500, "Challenge Expired")
        }
    }

    @Test("A code is good at the call in whose form it was asked for, and at no other")
    func otherCall() async throws {
        try await CotterScene.with { scene in
            let browser = TestBrowser(scene.server)
            let result = try await scene.prove("putri@example.com", in: browser).result
            let form = [
                ("grant_type", "authorization_code"), ("code", result["code"] ?? ""),
                ("redirect_uri", CotterScene.redirectURI), ("code_verifier", SignInPageScene.verifier),
                ("client_id", scene.key),
            ]
            let reply = try await scene.pages.token(form)
            #expect(reply.status == 400 && reply.json["error"] == "invalid_grant", "\(reply)")
            let own = try await scene.pages.signInByMail(
                "anna@example.com", ["redirect_uri": CotterScene.redirectURI], in: TestBrowser(scene.server)
            ).result
            let code = try #require(own["code"])
            #expect(own["challenge_id"] == nil && own["iss"] != nil)
            var body = scene.redemption(own)
            body["challenge_id"] = .integer(CotterChallenge.id(of: Secret(code)))
            expectMessage(try await scene.identity(body), 500, "Challenge Expired")
        }
    }

    @Test("An address of the other kind is no answer, typed or proved")
    func otherKind() async throws {
        try await CotterScene.with { scene in
            let browser = TestBrowser(scene.server)
            let first = try await browser.get(scene.link(["type": "PHONE"]))
            let typed = try await browser.submit(first, to: "/signin/choose", [("identifier", "putri@example.com")])
            #expect(typed.status == 200 && typed.heading == first.heading && typed.html.contains("putri@example.com"))
            // Somebody with a device and no number that they have proved.
            try await scene.claim("phone", "+4915112345678")
            let done = try await scene.approve("+4915112345678", ["type": "PHONE"], in: browser)
            #expect(done.result["error"] == "unmet_authentication_requirements", "\(done.reply)")
            #expect(done.result["code"] == nil && done.result["state"] == CotterScene.state)
        }
    }

    @Test("In a session an app gets a code after a page, and none for an address that is not proved")
    func session() async throws {
        try await CotterScene.with { scene in
            let browser = TestBrowser(scene.server)
            let first = try await scene.prove("putri@example.com", in: browser)
            #expect(first.result["code"] != nil)
            // Any program can pass for an app, so that it gets nothing without a page.
            let again = try await browser.get(scene.link())
            #expect(again.location == nil && again.status == 200)
            let done = try await browser.submit(again, to: "/signin/go-on")
            let reply = try await scene.identity(scene.redemption(done.result)).success()
            #expect(reply["identifier"]?["identifier"] == "putri@example.com")
            #expect(reply["oauth_token"]?["auth_method"] == "OTP")
            let phone = try await browser.get(scene.link(["type": "PHONE"]))
            let fresh = try await TestBrowser(scene.server).get(scene.link(["type": "PHONE"]))
            #expect(phone.heading == fresh.heading && phone.heading != again.heading, "\(phone.reply)")
        }
    }

    @Test("A user who is approved by a device has proved the address before, or gets no code")
    func device() async throws {
        try await CotterScene.with { scene in
            let name = "customer-1@example.com"
            try await scene.claim("email", name)
            let claimed = try await scene.approve(name, in: TestBrowser(scene.server)).result
            #expect(claimed["error"] == "unmet_authentication_requirements" && claimed["code"] == nil)
            #expect(try await scene.prove(name, in: TestBrowser(scene.server)).result["code"] != nil)
            let result = try await scene.approve(name, in: TestBrowser(scene.server)).result
            let reply = try await scene.identity(scene.redemption(result)).success()
            #expect(reply["oauth_token"]?["auth_method"] == "TRUSTED_DEVICE")
            #expect(reply["user"]?["ID"] == .string(scene.scene.user))
            #expect(reply["user"]?["client_user_id"] == "customer-1")
            #expect(reply["identifier"]?["identifier"] == .string(name))
        }
    }

    @Test("An address that is taken away before the code is redeemed is in no identity")
    func takenAway() async throws {
        try await CotterScene.with { scene in
            let name = "customer-1@example.com"
            try await scene.claim("email", name)
            #expect(try await scene.prove(name, in: TestBrowser(scene.server)).result["code"] != nil)
            let result = try await scene.approve(name, in: TestBrowser(scene.server)).result
            #expect(result["code"] != nil)
            let removed = try await scene.scene.administrator.call(
                .DELETE, "/v1/admin/users/\(scene.scene.user)/addresses/\(name)")
            #expect(removed.status < 300, "\(removed)")
            expectMessage(try await scene.identity(scene.redemption(result)), 500, "Challenge Expired")
            #expect(try await scene.scene.administrator.auditCount("tokens.given") == 0)
        }
    }

    @Test("What React Native takes for a verifier is taken, and what PKCE forbids is not")
    func plainBase64() async throws {
        try await CotterScene.with { scene in
            let challenge = Base64.encode(Array(SHA256.hash(data: Array(Self.plainVerifier.utf8))))
            let result = try await scene.prove(
                "putri@example.com", ["code_challenge": challenge], in: TestBrowser(scene.server)
            ).result
            var body = scene.redemption(result)
            body["code_verifier"] = .string(Self.plainVerifier)
            #expect(try await scene.identity(body).status == 200)
        }
    }

    @Test("API_SECRET_KEY is taken, and stands in no log and no reply")
    func secretKey() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            // The server's log and replies are searched for it when the server has ended.
            let reply = try await scene.post(
                "/verify/get_identity", .object(scene.redemption(result)),
                headers: [("API_SECRET_KEY", "w4FK6Zz0XIhtGY3o5biI")])
            #expect(reply.status == 200, "\(reply)")
        }
    }
}
