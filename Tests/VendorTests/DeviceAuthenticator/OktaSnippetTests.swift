import Countersign
import CountersignWire
import DeviceAuthenticator
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import UserNotificationsStandIn
import VendorSnippets

@Suite("The samples of Okta's document, as scripts/seed-snippets cuts them", .timeLimit(.minutes(15)))
struct OktaSnippetTests {
    /// What the system would give the app of a scene.
    private static func completion(_ scene: OktaScene) -> @Sendable (ApplicationConfig) -> Void {
        return { $0.countersign = OktaScene.configuration(scene.vault, scene.transport).countersign }
    }

    /// The person's sign-in by another library.
    private static func credential(_ scene: OktaScene) -> VendorSnippets.Credential {
        VendorSnippets.Credential(
            baseURL: scene.config.orgURL, clientID: scene.shop.clientID, accessToken: OktaScene.token)
    }

    private static func notification(_ payload: JSONValue) throws -> UNNotification {
        let userInfo = try #require(
            try JSONSerialization.jsonObject(with: Data(payload.encoded)) as? [AnyHashable: Any])
        return UNNotification(
            request: UNNotificationRequest(identifier: "1", content: UNNotificationContent(userInfo: userInfo)))
    }

    @Test("003/01: the client is made, for the environment of a debug build")
    func initializes() async throws {
        try await OktaScene.with { scene in
            let app = S003x01(Self.completion(scene))
            app.start()
            #expect(app.authenticatorClient?.allEnrollments().isEmpty == true)
            #if DEBUG
                #expect(app.config?.pushSettings.apsEnvironment == .development)
            #else
                #expect(app.config?.pushSettings.apsEnvironment == .production)
            #endif
            #expect(app.config?.applicationGroupId == "com.your.group.id")
        }
    }

    @Test("003/02: the device is enrolled, with its push token")
    func enrolls() async throws {
        try await OktaScene.with { scene in
            scene.transport.know(OktaScene.token, as: try await scene.shop.makeTicket(for: scene.user))
            let app = S003x02(Self.completion(scene))
            app.authenticatorClient = scene.authenticator
            app.notificationSessionToken = Data([1, 2, 3])
            Credential.signedIn(Self.credential(scene)) { app.enroll() }
            let id = try #require(try await app.noted().first)
            let known = try #require(try await scene.enrollments().first)
            #expect(known["enrollment"] == .string(id))
            #expect(known["push"]?["app"] == .string(OktaScene.bundleIdentifier))
            #expect(scene.authenticator.allEnrollments().map(\.enrollmentId) == [id])
            // The token has enrolled a device.
            Credential.signedIn(Self.credential(scene)) { app.enroll() }
            while try await app.noted().count < 2 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await app.noted() == [id, "-1"])
        }
    }

    @Test("003/03: a new push token reaches the server")
    func updates() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let app = S003x03(Self.completion(scene))
            app.authenticatorClient = scene.authenticator
            Credential.signedIn(Self.credential(scene)) { app.update(Data([4, 5, 6])) }
            while try await scene.enrollments().first?["push"] == nil {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test("003/04: the device is removed, here and at the server or here alone", arguments: [true, false])
    func unenrolls(isLocal: Bool) async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let app = S003x04(Self.completion(scene))
            app.authenticatorClient = scene.authenticator
            Credential.signedIn(Self.credential(scene)) { app.unenroll(enrollment, isLocal: isLocal) }
            while !scene.authenticator.allEnrollments().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await scene.enrollments().count == (isLocal ? 1 : 0))
        }
    }

    @Test("003/05: the titles of actions are taken")
    func titles() async throws {
        try await OktaScene.with { scene in
            let app = S003x05(Self.completion(scene))
            app.start()
            #expect(app.authenticatorClient != nil)
            #expect(app.config?.pushSettings.approveActionTitle == "Approve")
            #expect(app.config?.pushSettings.denyActionTitle == "Deny")
            #expect(app.config?.pushSettings.userVerificationActionTitle == "Review")
        }
    }

    @Test("003/06: whether it is ours or another's, the system is answered")
    func recognizes() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let (_, payload) = try await scene.askedByPush()
            let app = S003x06(Self.completion(scene))
            app.authenticatorClient = scene.authenticator
            app.present(try Self.notification(payload))
            app.present(try Self.notification(["aps": ["alert": "Hello"]]))
            #expect(try await app.noted() == ["completed", "completed"])
        }
    }

    @Test("003/07, 003/08: a challenge is resolved as was chosen on the notification; without a screen it is denied")
    func resolves() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let app = S003x07(Self.completion(scene))
            let (id, payload) = try await scene.askedByPush()
            app.resolve(try scene.authenticator.parsePushNotification(try Self.notification(payload)))
            #expect(try await scene.ended(id) == "denied")
            let (other, chosen) = try await scene.askedByPush()
            app.resolve(
                try scene.authenticator.parsePushNotificationResponse(
                    UNNotificationResponse(
                        notification: try Self.notification(chosen), actionIdentifier: "COUNTERSIGN_APPROVE")))
            #expect(try await scene.ended(other) == "approved")
        }
    }

    @Test("003/09: what no push has announced is fetched")
    func retrieves() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (id, _) = try await scene.ask("payment")
            let app = S003x09(Self.completion(scene))
            app.authenticatorClient = scene.authenticator
            app.retrieve(OktaScene.token)
            #expect(try await app.noted() == [id])
            let path = "/v1/users/\(scene.user)/enrollments/\(enrollment.enrollmentId)"
            #expect(try await scene.shop.call(.DELETE, path).status == 204)
            app.retrieve(OktaScene.token)
            while try await app.noted().count < 2 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await app.noted() == [id, "-1"])
        }
    }
}

extension OktaScene {
    /// How a challenge has ended, once it has.
    fileprivate func ended(_ challenge: String) async throws -> String? {
        try await shop.call(.GET, "/v1/challenges/\(challenge)?wait=30").success()["state"]?.string
    }
}
