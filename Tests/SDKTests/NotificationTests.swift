@testable import Countersign
import CountersignWire
import Encodings
import Foundation
import ServerTestSupport
import Testing

@Suite("Notifications, as a system shows them", .timeLimit(.minutes(15)))
struct NotificationTests {
    private static let titles = NotificationTitles(approve: "Yes", deny: "No", report: "Not me")
    private static let opened = "com.apple.UNNotificationDefaultActionIdentifier"
    private static let dismissed = "com.apple.UNNotificationDismissActionIdentifier"
    private static let neutral = ShownNotification(title: "Bank", body: "A question waits for you")

    private static func userInfo(_ payload: JSONValue) throws -> [AnyHashable: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(payload.encoded)) as? [AnyHashable: Any])
    }

    private static func changed(_ payload: JSONValue, _ old: String, _ new: String) throws -> JSONValue {
        try JSONValue(parsing: Array(payload.text.replacing(old, with: new).utf8))
    }

    @Test("The categories offer what pushes name, with the app's titles")
    func categories() {
        let yes = NotificationAction(id: "COUNTERSIGN_APPROVE", title: "Yes", isDestructive: false)
        let no = NotificationAction(id: "COUNTERSIGN_DENY", title: "No", isDestructive: true)
        let notMe = NotificationAction(id: "COUNTERSIGN_REPORT", title: "Not me", isDestructive: true)
        #expect(
            Self.titles.categories == [
                NotificationCategory(id: "COUNTERSIGN_CONFIRM", actions: [yes, no, notMe]),
                NotificationCategory(id: "COUNTERSIGN_REVIEW", actions: [no, notMe]),
            ])
    }

    @Test("What the system hands over is an action, an opening, a dismissal, or not ours")
    func choices() async throws {
        try await SDKScene.with { scene in
            let (_, payload) = try await scene.askedByPush()
            let userInfo = try Self.userInfo(payload)
            func read(_ action: String, _ userInfo: [AnyHashable: Any]) -> String {
                switch NotificationChoice(actionIdentifier: action, userInfo: userInfo) {
                case .action(let action, _): action.rawValue
                case .opened: "opened"
                case .dismissed: "dismissed"
                case .notOurs: "not ours"
                }
            }
            for action in QuickAction.allCases { #expect(read(action.rawValue, userInfo) == action.rawValue) }
            #expect(read(Self.opened, userInfo) == "opened")
            #expect(read(Self.dismissed, userInfo) == "dismissed")
            #expect(read("SNOOZE", userInfo) == "not ours")
            for action in [Self.opened, Self.dismissed, "COUNTERSIGN_APPROVE"] {
                #expect(read(action, ["aps": ["alert": "Hello"]]) == "not ours")
            }
        }
    }

    @Test("A choice becomes an answer, or a review of what the notification did not show")
    func carriesOut() async throws {
        try await SDKScene.with { scene in
            let app = scene.authenticator
            @Sendable func carryOut(_ action: String, _ payload: JSONValue) async throws -> NotificationOutcome {
                try await app.carryOut(
                    NotificationChoice(actionIdentifier: action, userInfo: try Self.userInfo(payload)))
            }
            let (asked, payload) = try await scene.askedByPush()
            // It asks a number, so the notification did not show all of it.
            for action in [Self.opened, "COUNTERSIGN_APPROVE"] {
                guard case .review(let question) = try await carryOut(action, payload) else {
                    Issue.record("\(action): nothing to review")
                    return
                }
                #expect(question.id == asked.id)
            }
            for action in [Self.dismissed, "SNOOZE"] {
                guard case .nothing = try await carryOut(action, payload) else {
                    Issue.record("\(action) does something")
                    return
                }
            }
            #expect(try await scene.status(of: asked).state == "pending")
            guard case .answered(.deny) = try await carryOut("COUNTERSIGN_DENY", payload) else {
                Issue.record("not denied")
                return
            }
            #expect(try await scene.status(of: asked).state == "denied")
            #expect(await code { _ = try await carryOut(Self.opened, payload) } == "already_answered")
            let forged = try Self.changed(payload, "Pay EUR", "Pay GBP")
            #expect(await code { _ = try await carryOut("COUNTERSIGN_DENY", forged) } == "push_refused")
            let stranger = try Self.changed(payload, "\(scene.enrollment.id)", "enr_00000000000000000000000000")
            guard case .nothing = try await carryOut(Self.opened, stranger) else {
                Issue.record("a stranger's push does something")
                return
            }
        }
    }

    @Test(
        "A verified push is shown with the client's name and its short message; any other names nobody and offers nothing"
    )
    func shown() async throws {
        try await SDKScene.with { scene in
            let (_, payload) = try await scene.askedByPush()
            func shown(_ payload: JSONValue) async throws -> ShownNotification {
                await scene.authenticator.shownNotification(
                    of: try #require(PushNotification(json: payload.encoded)), orElse: Self.neutral)
            }
            scene.transport.happen { _, _ in throw FaultyTransport.Lost() }
            let whole = try await shown(payload)
            #expect(whole.title == "ACME Shop")
            #expect(whole.body == "Pay EUR 1,250.00 to ACME GmbH?")
            #expect(whole.category == "COUNTERSIGN_REVIEW")
            // The category is not signed: another one offers nothing here, and does nothing that the device does not check.
            #expect(try await shown(Self.changed(payload, "COUNTERSIGN_REVIEW", "OTHER")).category == nil)
            let stranger = "enr_00000000000000000000000000"
            for (old, new) in [("EUR", "GBP"), ("ACME Shop", "ACME Bank"), ("\(scene.enrollment.id)", stranger)] {
                #expect(try await shown(Self.changed(payload, old, new)) == Self.neutral, "\(old)")
            }
            scene.server.clock.advance(seconds: 3600)
            #expect(try await shown(payload) == Self.neutral)
        }
    }

    @Test("What names Countersign or wants its actions, and cannot be read, is not shown as it came")
    func unreadable() async throws {
        try await SDKScene.with { scene in
            let (_, payload) = try await scene.askedByPush()
            func read(_ userInfo: [AnyHashable: Any]) -> String {
                switch NotificationOrigin(userInfo: userInfo) {
                case .push: "push"
                case .unreadable: "unreadable"
                case .notOurs: "not ours"
                }
            }
            #expect(read(try Self.userInfo(payload)) == "push")
            let alert: [String: Any] = ["title": "ACME Bank", "body": "Approve at once"]
            let tooMuch = String(repeating: "x", count: 5000)
            let broken: [[AnyHashable: Any]] = [
                try Self.userInfo(Self.changed(payload, "\(scene.enrollment.id)", "nobody")),
                ["aps": ["alert": alert], "countersign": "x"],
                ["aps": ["alert": alert], "countersign": ["enrollment": "\(scene.enrollment.id)", "more": tooMuch]],
                ["aps": ["alert": alert, "category": "COUNTERSIGN_CONFIRM"]],
                ["aps": ["alert": alert, "category": "COUNTERSIGN_REVIEW"]],
            ]
            for userInfo in broken { #expect(read(userInfo) == "unreadable", "\(userInfo)") }
            for userInfo in [[:], ["aps": ["alert": alert]], ["aps": ["alert": alert, "category": "CHAT"]]]
                as [[AnyHashable: Any]]
            {
                #expect(read(userInfo) == "not ours")
            }
        }
    }

    @Test("While keys are fetched for ever, the neutral text is shown before the system shows what came")
    func slow() async throws {
        try await SDKScene.with { scene in
            let (_, payload) = try await scene.askedByPush()
            let jws = try #require(payload["countersign"]?["jws"]?.string)
            let encoded = String(try #require(jws.split(separator: ".").first))
            let decoded = try #require(Base64URL.decode(encoded))
            var header = try #require(try JSONValue(parsing: decoded).object)
            header["kid"] = "unknown"
            let other = try Self.changed(payload, encoded, Base64URL.encode(JSONValue.object(header).encoded))
            let push = try #require(PushNotification(json: other.encoded))
            scene.transport.happen { _, _ in
                try await Task.sleep(for: .seconds(60))
                throw FaultyTransport.Lost()
            }
            let start = ContinuousClock.now
            let shown = await scene.authenticator.shownNotification(
                of: push, orElse: Self.neutral, within: .milliseconds(10))
            #expect(shown == Self.neutral && ContinuousClock.now - start < .seconds(30))
            while scene.transport.requests(to: "/v1/push-keys").isEmpty { await Task.yield() }
        }
    }

    @Test("A notification that was shown is found by the challenge that a push withdraws")
    func withdrawn() async throws {
        try await SDKScene.with { scene in
            let (asked, payload) = try await scene.askedByPush()
            #expect(PushNotification.challenge(named: try Self.userInfo(payload)) == asked.id)
            #expect(PushNotification.challenge(named: ["aps": ["alert": "Hello"]]) == nil)
        }
    }

    @Test("What is pending is fetched in the background, and counted for the badge")
    func background() async throws {
        try await SDKScene.with { scene in
            #expect(await scene.authenticator.fetchInBackground() == .nothing)
            #expect(BackgroundFetch.nothing.badge == 0)
            for count in 1...2 {
                _ = try await scene.ask()
                let fetch = await scene.authenticator.fetchInBackground()
                #expect(fetch == .pending(count))
                #expect(fetch.badge == count)
            }
            scene.transport.happen { _, _ in throw FaultyTransport.Lost() }
            #expect(await scene.authenticator.fetchInBackground() == .failed)
            #expect(BackgroundFetch.failed.badge == nil)
        }
    }
}
