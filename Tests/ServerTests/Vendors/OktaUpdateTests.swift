import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: a device changes its enrollment")
struct OktaUpdateTests {
    /// What the shop sees of a phone's enrollment.
    private static func shown(_ phone: OktaPhone, _ scene: OktaScene) async throws -> JSONValue {
        let list = try await scene.shop.call(.GET, "/v1/users/\(phone.user)/enrollments").success()
        return try #require(list["enrollments"]?.array?.first { $0["enrollment"] == .string(phone.id) })
    }

    private static func maintenanceToken(_ phone: OktaPhone) async throws -> String {
        let given = try await phone.maintain(try await phone.assertion()).success()
        return try #require(given["access_token"]?.string)
    }

    @Test("A push token is replaced by whoever maintains the device, and the reply is the whole enrollment")
    func pushToken() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            scene.server.watch.plant("feedfacefeedface", "a push token")
            let token = try await Self.maintenanceToken(phone)
            let reply = try await phone.patch(["pushToken": "feedfacefeedface"], by: token).success()
            #expect(reply["id"] == .string(phone.id))
            #expect(reply["methods"]?["push"]?["links"]?["pending"]?["href"] != nil, "\(reply)")
            let push = try #require(try await Self.shown(phone, scene)["push"])
            #expect(push["environment"] == "development" && push["app"] == "com.example.bank", "\(push)")
            for wrong in ["no hex", 5] as [JSONValue] {
                expectCode(try await phone.patch(["pushToken": wrong], by: token), 400, "E0000001")
            }
            #expect(try await phone.patch(["pushToken": ""], by: token).status == 200)
            #expect(try await Self.shown(phone, scene)["push"] == nil)
            // The app is known by what it said when it enrolled.
            #expect(try await phone.patch(["pushToken": "aabb"]).status == 200)
            #expect(try await Self.shown(phone, scene)["push"]?["app"] == "com.example.bank")
        }
    }

    @Test("Whether it takes CIBA changes nothing here, and is no error; a body that is no such patch is one")
    func capabilities() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let before = try await Self.shown(phone, scene)
            let reply = try await phone.patch(["capabilities": ["transactionTypes": ["LOGIN"]]])
            #expect(try reply.success()["id"] == .string(phone.id))
            #expect(try await Self.shown(phone, scene) == before)
            for body in [[:], ["methods": [:]], ["methods": ["push": "x"]]] as [JSONValue] {
                expectCode(try await phone.call(.PATCH, phone.path, body), 400, "E0000001")
            }
            let reply2 = try await phone.call(.PATCH, phone.path, ["methods": [:]], type: "text/plain")
            expectCode(reply2, 400, "E0000003")
        }
    }

    @Test("RFC 7396 §2: a null removes the biometric; its key answers nothing from then on, and is enrolled no more")
    func removesBiometric() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone("anna", verifies: true)
            let key = OktaPhone.jwk(try #require(phone.verification))
            // The SDK sends what is there already; that spends no ticket.
            for _ in 0..<2 { #expect(try await phone.patch(["keys": ["userVerification": key]]).status == 200) }
            _ = try await scene.ask(phone, "both")
            let challenge = try #require(try await phone.pending().first)
            for _ in 0..<2 { #expect(try await phone.patch(["keys": ["userVerification": .null]]).status == 200) }
            let answer = try await phone.answer(to: challenge, "APPROVED_USER_VERIFICATION", isVerified: true)
            expectCode(try await phone.verify(answer, at: challenge), 400, "E0000001")
            #expect(try await phone.verify(try await phone.answer(to: challenge), at: challenge).status == 200)
            let asked = try await scene.shop.call(
                .POST, "/v1/challenges", ["user": .string(phone.user), "type": "face", "message": "x"])
            expectRefusal(asked, 409, "no_enrollment")
            expectCode(try await phone.patch(["keys": ["userVerification": key]]), 403, "E0000006")
        }
    }

    /// A token of `customer-1`, who has signed in by their phone, in a browser of its own.
    private static func token(in scene: OktaScene) async throws -> String {
        let pages = SignInPageScene(
            scene: scene.scene, browser: TestBrowser(scene.server), credential: scene.pages.credential)
        let page = try await pages.signIn(["scope": OktaScene.scopes])
        let redeemed = try await pages.token([
            ("grant_type", "authorization_code"), ("code", try #require(page.result["code"], "\(page.reply)")),
            ("redirect_uri", SignInPageScene.redirectURI), ("code_verifier", SignInPageScene.verifier),
            ("client_id", scene.client),
        ])
        return try #require(try redeemed.success()["access_token"]?.string)
    }

    @Test("A key for the biometric needs a sign-in of its own, as a new device does, and waits as one")
    func setsBiometric() async throws {
        try await OktaScene.with { scene in
            var phone = OktaPhone(
                server: scene.server, client: scene.client, token: try await Self.token(in: scene))
            phone.enrollment = try phone.read(try await phone.enroll().success())
            let face = PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString)
            let patch: JSONValue = ["keys": ["userVerification": OktaPhone.jwk(face)]]
            // The sign-in has enrolled the device.
            expectCode(try await phone.patch(patch), 403, "E0000006")
            let token = try await Self.token(in: scene)
            for _ in 0..<2 { #expect(try await phone.patch(patch, by: token).status == 200) }
            let changes = try await scene.administrator.auditEvents().filter { $0["kind"] == "method.changed" }
            #expect(changes.count == 1 && changes[0]["enrollment"] == .string(phone.id), "\(changes)")
            #expect(changes[0]["detail"]?["method"] == "biometric" && changes[0]["detail"]?["change"] == "set")
            #expect(changes[0]["detail"]?["waiting_until"] != nil, "\(changes)")
        }
    }

    @Test("A key that was enrolled for anything is none for a biometric, and the device of somebody else gets none")
    func keyOnce() async throws {
        try await OktaScene.with { scene in
            var phone = OktaPhone(
                server: scene.server, client: scene.client, token: try await Self.token(in: scene))
            phone.enrollment = try phone.read(try await phone.enroll().success())
            let other = try await scene.enrolledPhone("anna", verifies: true)
            let token = try await Self.token(in: scene)
            for key in [phone.possession, other.possession, try #require(other.verification)] {
                let patch: JSONValue = ["keys": ["userVerification": OktaPhone.jwk(key)]]
                expectCode(try await phone.patch(patch, by: token), 400, "E0000001")
            }
            let face = PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString)
            let patch: JSONValue = ["keys": ["userVerification": OktaPhone.jwk(face)]]
            expectCode(try await other.patch(patch, by: token), 404, "E0000007")
            // What was refused has spent nothing.
            #expect(try await phone.patch(patch, by: token).status == 200)
        }
    }

    @Test("What is signed for by the device itself changes where pushes go, and nothing else")
    func scopes() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone("anna", verifies: true)
            let token = try await Self.maintenanceToken(phone)
            let face = PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString)
            for key in [.null, OktaPhone.jwk(face)] as [JSONValue] {
                expectCode(try await phone.patch(["keys": ["userVerification": key]], by: token), 403, "E0000006")
            }
            expectCode(try await phone.call(.DELETE, phone.path, by: token), 403, "E0000006")
            expectCode(try await phone.call(.POST, OktaScene.path, .object(phone.request), by: token), 403, "E0000006")
            let other = try await scene.enrolledPhone("bert")
            expectCode(try await other.patch(["pushToken": "aabb"], by: token), 403, "E0000006")
            let reading = try #require(
                try await scene.signIn("carla", "okta.authenticators.read")["access_token"]?.string)
            expectCode(try await phone.patch(["pushToken": "aabb"], by: reading), 403, "E0000006")
        }
    }
}
