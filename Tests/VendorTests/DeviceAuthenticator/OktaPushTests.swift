import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import UserNotificationsStandIn

@testable import DeviceAuthenticator

@Suite("Okta's calls: pushes", .timeLimit(.minutes(15)))
struct OktaPushTests {
    private func notification(_ payload: JSONValue) throws -> UNNotification {
        let userInfo = try #require(
            try JSONSerialization.jsonObject(with: Data(payload.encoded)) as? [AnyHashable: Any])
        return UNNotification(
            request: UNNotificationRequest(identifier: "1", content: UNNotificationContent(userInfo: userInfo)))
    }

    private func response(_ payload: JSONValue, _ action: String) throws -> UNNotificationResponse {
        UNNotificationResponse(notification: try notification(payload), actionIdentifier: action)
    }

    private func changed(_ payload: JSONValue, _ old: String, _ new: String) throws -> JSONValue {
        try JSONValue(parsing: Array(payload.text.replacing(old, with: new).utf8))
    }

    /// Why the push is not a challenge; nothing if it is one.
    private func refusal(
        by app: any DeviceAuthenticatorProtocol, of payload: JSONValue
    ) throws -> DeviceAuthenticatorError? {
        let notification = try notification(payload)
        do {
            _ = try app.parsePushNotification(notification)
            return nil
        } catch {
            return error as? DeviceAuthenticatorError
        }
    }

    @Test("A push is verified, and becomes a challenge that is fetched when it is resolved")
    func parses() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let details: JSONValue = [["label": "Amount", "value": "EUR 1,250.00"]]
            let (id, payload) = try await scene.askedByPush(["details": details])
            let challenge = try scene.authenticator.parsePushNotification(try self.notification(payload))
            #expect(challenge.transactionId == id && challenge.appInstanceName == "ACME Shop")
            #expect(challenge.originURL == scene.config.orgURL && challenge.clientLocation == nil)
            #expect(challenge.userResponse == .userNotResponded)
            let asked = try #require(challenge as? any CIBAChallengeProtocol)
            #expect(asked.cibaBindingMessage == "Pay EUR 1,250.00 to ACME GmbH?")
            let person = OktaPerson(.approved)
            #expect(await person.resolve(challenge) == nil)
            #expect(person.steps == ["consent"])
            #expect(asked.cibaBindingMessage == "Pay EUR 1,250.00 to ACME GmbH?\nAmount: EUR 1,250.00")
            #expect(try await scene.state(of: id) == "approved")
            #expect(enrollment.enrollmentId == scene.authenticator.allEnrollments().first?.enrollmentId)
        }
    }

    @Test("Others' pushes, those for no enrollment, forged and stale ones are told apart")
    func refuses() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (id, payload) = try await scene.askedByPush()
            let app = scene.authenticator
            let foreign = try self.refusal(by: app, of: ["aps": ["alert": "Hello"]])
            #expect(foreign == .pushNotRecognized)
            let withdrawal = PushWithdrawal.payload(
                of: try #require(ChallengeID(id)), for: try #require(EnrollmentID(enrollment.enrollmentId)))
            let withdrawn = try self.refusal(by: app, of: withdrawal)
            #expect(withdrawn == .pushNotRecognized)
            let stranger = try self.changed(payload, enrollment.enrollmentId, "enr_00000000000000000000000000")
            let absent = try self.refusal(by: app, of: stranger)
            guard case .accountNotFoundForChallenge(let challenge) = absent else {
                Issue.record("\(String(describing: absent))")
                return
            }
            #expect(challenge.transactionId == id)
            #expect(await OktaPerson(.approved).resolve(challenge)?.errorCode == -4)
            let forged = try self.changed(payload, "Pay EUR", "Pay GBP")
            let refused = try self.refusal(by: app, of: forged)
            guard case .securityError(.jwtError) = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(try await scene.state(of: id) == "pending")
        }
    }

    @Test("What cannot be fetched is an error of the network, and can be resolved again")
    func network() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let (id, payload) = try await scene.askedByPush()
            scene.transport.fail(true)
            let challenge = try scene.authenticator.parsePushNotification(try self.notification(payload))
            #expect(await OktaPerson(.approved).resolve(challenge)?.errorCode == -2)
            scene.transport.fail(false)
            #expect(await OktaPerson(.approved).resolve(challenge) == nil)
            #expect(try await scene.state(of: id) == "approved")
        }
    }

    @Test("What was chosen on the notification is the answer, if the notification has shown all of it")
    func actions() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let chosen: [(String, PushChallengeUserResponse, String)] = [
                ("COUNTERSIGN_APPROVE", .userApproved, "approved"), ("COUNTERSIGN_DENY", .userDenied, "denied"),
            ]
            for (action, answer, state) in chosen {
                let (id, payload) = try await scene.askedByPush()
                let challenge = try scene.authenticator.parsePushNotificationResponse(
                    try self.response(payload, action))
                #expect(challenge.userResponse == answer)
                let nobody = OktaPerson(nil)
                #expect(await nobody.resolve(challenge) == nil)
                #expect(nobody.steps.isEmpty)
                #expect(try await scene.state(of: id) == state)
            }
            let details: JSONValue = [["label": "Amount", "value": "EUR 1,250.00"]]
            for members: JSONObject in [["details": details], ["type": "numbered"]] {
                let (id, payload) = try await scene.askedByPush(members)
                let challenge = try scene.authenticator.parsePushNotificationResponse(
                    try self.response(payload, "COUNTERSIGN_APPROVE"), allowedClockSkewInSeconds: 60)
                let person = OktaPerson(.denied)
                #expect(await person.resolve(challenge) == nil)
                #expect(person.steps == ["consent"], "it did not show all of it")
                #expect(try await scene.state(of: id) == "denied")
            }
            let (id, payload) = try await scene.askedByPush()
            let opened = try scene.authenticator.parsePushNotificationResponse(
                try self.response(payload, "com.apple.UNNotificationDefaultActionIdentifier"))
            #expect(opened.userResponse == .userNotResponded)
            let reported = try scene.authenticator.parsePushNotificationResponse(
                try self.response(payload, "COUNTERSIGN_REPORT"))
            #expect(reported.userResponse == .userDenied)
            #expect(await OktaPerson(nil).resolve(reported) == nil)
            let status = try await scene.shop.call(.GET, "/v1/challenges/\(id)").success()
            #expect(status["state"]?.string == "denied" && status["reason"]?.string == "reported", "\(status)")
        }
    }
}

extension OktaScene {
    /// Asks, and gives back the push that announces it, as the system would hand it over.
    func askedByPush(_ members: JSONObject = JSONObject()) async throws -> (id: String, payload: JSONValue) {
        let app = try #require(authenticator as? SDKDeviceAuthenticator)
        return try await CallbackReceiver.with { receiver in
            let port = try #require(URL(string: receiver.url)?.port)
            let token = "\(port):\(String(repeating: "0badc0de", count: 4))"
            try await app.authenticator(at: config.orgURL)
                .registerPush(.local, app: OktaScene.bundleIdentifier, token: token)
            let asked = try await ask(members["type"]?.string ?? "payment", members)
            var calls = receiver.calls.makeAsyncIterator()
            return (asked.id, try JSONValue(parsing: try #require(await calls.next()).body))
        }
    }
}
