import Countersign
import CountersignWire
import DeviceAuthenticator
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import UserNotificationsStandIn

/// What the system would give the app of a test.
private struct Phone: VaultOfTest {
    let scene: OktaScene

    func complete(_ config: ApplicationConfig) {
        config.countersign = OktaScene.configuration(scene.vault, scene.transport).countersign
    }
}

@Suite("The snippets of Okta's document, at the real server", .timeLimit(.minutes(15)))
struct OktaSnippetTests {
    /// The person's sign-in by another library.
    private static func credential(_ scene: OktaScene) -> Credential {
        Credential(
            oauth2: .init(baseURL: scene.config.orgURL, configuration: .init(clientId: scene.shop.clientID)),
            token: .init(accessToken: OktaScene.token))
    }

    /// Runs a body in an app that was started, whose person is signed in.
    private func with(
        _ body: @escaping @Sendable (OktaScene, DeviceSDKManager) async throws -> Void
    ) async throws {
        try await OktaScene.with { scene in
            scene.transport.know(OktaScene.token, as: try await scene.shop.makeTicket(for: scene.user))
            let credential = Self.credential(scene)
            try await Credential.$current.withValue(credential) {
                let manager = DeviceSDKManager(Phone(scene: scene))
                manager.initOktaDeviceAuthenticator()
                try await body(scene, manager)
            }
        }
    }

    private typealias Enrolled = any AuthenticatorEnrollmentProtocol

    /// The app after it has enrolled, by the snippet.
    private func withEnrolled(
        _ body: @escaping @Sendable (OktaScene, DeviceSDKManager, Enrolled) async throws -> Void
    ) async throws {
        try await with { scene, manager in
            manager.notificationSessionToken = Data([1, 2, 3])
            manager.enrollDevice()
            let enrolled = try #require(try await manager.noted().first)
            let enrollment = try #require(manager.authenticatorClient?.allEnrollments().first)
            #expect(enrolled == "enrolled \(enrollment.enrollmentId)")
            try await body(scene, manager, enrollment)
        }
    }

    @Test("Line 42: the client is made, for the environment of a debug build")
    func initializes() async throws {
        try await with { _, manager in
            #expect(manager.authenticatorClient?.allEnrollments().isEmpty == true)
            #if DEBUG
                #expect(manager.made?.pushSettings.apsEnvironment == .development)
            #else
                #expect(manager.made?.pushSettings.apsEnvironment == .production)
            #endif
            #expect(manager.made?.applicationGroupId == "com.your.group.id")
        }
    }

    @Test("Line 85: the device is enrolled, with its push token")
    func enrolls() async throws {
        try await withEnrolled { scene, manager, enrollment in
            let known = try #require(try await scene.enrollments().first)
            #expect(known["enrollment"] == .string(enrollment.enrollmentId))
            #expect(known["push"]?["app"] == .string(OktaScene.bundleIdentifier))
        }
    }

    @Test("Line 123: a new push token reaches the server")
    func updates() async throws {
        try await OktaScene.with { scene in
            // It has enrolled without one.
            _ = try await scene.enroll()
            let manager = DeviceSDKManager(Phone(scene: scene))
            manager.initOktaDeviceAuthenticator()
            let credential = Self.credential(scene)
            func update() {
                Credential.$current.withValue(credential) { manager.updateEnrollments(with: Data([4, 5, 6])) }
            }
            update()
            while try await scene.enrollments().first?["push"] == nil {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test("Line 153: the device is removed, here and at the server or here alone", arguments: [true, false])
    func unenrolls(isLocal: Bool) async throws {
        try await withEnrolled { scene, manager, enrollment in
            manager.unenrollDevice(enrollment, localOnly: isLocal)
            while manager.authenticatorClient?.allEnrollments().isEmpty == false {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await scene.enrollments().count == (isLocal ? 1 : 0))
        }
    }

    @Test("Line 188: the titles of actions are taken")
    func titles() async throws {
        try await OktaScene.with { scene in
            let manager = DeviceSDKManagerWithActions(Phone(scene: scene))
            manager.initOktaDeviceAuthenticator()
            #expect(manager.authenticatorClient != nil)
            #expect(manager.made?.pushSettings.approveActionTitle == "Approve")
            #expect(manager.made?.pushSettings.denyActionTitle == "Deny")
            #expect(manager.made?.pushSettings.userVerificationActionTitle == "Review")
        }
    }

    @Test("Lines 207, 232, 252: a push is recognised, and its challenge resolved; without a screen that is a denial")
    func handles() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let (id, payload) = try await scene.askedByPush()
            let manager = DeviceSDKManager(Phone(scene: scene))
            manager.authenticatorClient = scene.authenticator
            func notification(_ payload: JSONValue) throws -> UNNotification {
                let userInfo = try #require(
                    try JSONSerialization.jsonObject(with: Data(payload.encoded)) as? [AnyHashable: Any])
                return UNNotification(
                    request: UNNotificationRequest(identifier: "1", content: UNNotificationContent(userInfo: userInfo)))
            }
            var calls = 0
            for payload in [payload, ["aps": ["alert": "Hello"]]] {
                manager.userNotificationCenter(
                    UNUserNotificationCenter(), willPresentNotification: try notification(payload)
                ) { options in
                    #expect(options.isEmpty)
                    calls += 1
                }
            }
            #expect(calls == 2)
            #expect(try await manager.noted() == [id, "not ours"])
            manager.resolvePushChallenge(try scene.authenticator.parsePushNotification(try notification(payload)))
            #expect(try await scene.ended(id) == "denied")
            // A choice on the notification is the answer.
            let (other, chosen) = try await scene.askedByPush()
            manager.resolvePushChallenge(
                try scene.authenticator.parsePushNotificationResponse(
                    UNNotificationResponse(
                        notification: try notification(chosen), actionIdentifier: "COUNTERSIGN_APPROVE")))
            #expect(try await scene.ended(other) == "approved")
        }
    }

    @Test("Line 271: what no push has announced is fetched")
    func retrieves() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let (id, _) = try await scene.ask("payment")
            let manager = DeviceSDKManager(Phone(scene: scene))
            manager.authenticatorClient = scene.authenticator
            manager.retrievePushChallenges(accessToken: OktaScene.token)
            #expect(try await manager.noted() == [id])
        }
    }
}

extension OktaScene {
    /// How a challenge has ended, once it has.
    fileprivate func ended(_ challenge: String) async throws -> String? {
        try await shop.call(.GET, "/v1/challenges/\(challenge)?wait=30").success()["state"]?.string
    }
}
