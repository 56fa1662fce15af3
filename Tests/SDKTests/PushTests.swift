import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

extension SDKScene {
    private static let own = "/v1/enrollments/self"

    /// What the server knows of where the device is reached.
    fileprivate func registered() async throws -> JSONValue? {
        let list = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()
        return list["enrollments"]?.array?.first { $0["enrollment"] == .string("\(enrollment.id)") }?["push"]
    }

    /// How often the server was told where the device is reached.
    fileprivate var told: Int { transport.requests(to: Self.own).count { $0.method == "PATCH" } }

    /// Asks, and gives back the push that announces it, as the device's system would hand it over.
    func askedByPush() async throws -> (asked: Asked, push: JSONValue) {
        try await CallbackReceiver.with { receiver in
            let port = try #require(URL(string: receiver.url)?.port)
            let token = "\(port):\(String(repeating: "0badc0de", count: 4))"
            try await authenticator.registerPush(.local, app: "com.example.bank", token: token)
            let asked = try await ask()
            var calls = receiver.calls.makeAsyncIterator()
            return (asked, try JSONValue(parsing: try #require(await calls.next()).body))
        }
    }
}

@Suite("The SDK and pushes", .timeLimit(.minutes(15)))
struct PushTests {
    @Test("A token that another enrollment of the same user has: enrolling goes on without, registering says so")
    func tokenInUse() async throws {
        try await SDKScene.with { scene in
            let token = Data(repeating: 7, count: 32)
            let app = scene.authenticator
            try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
            try await scene.enrollment.removeLocally()
            let again = try await app.enroll(with: .ticket(try await scene.shop.makeTicket(for: scene.user)))
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            let pushes = (list["enrollments"]?.array ?? []).map { ($0["enrollment"]?.string, $0["push"] != nil) }
            #expect(pushes.count == 2 && pushes.first { $0.0 == "\(again.id)" }?.1 == false)
            let told = await code {
                try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
            }
            #expect(told == "push_token_in_use")
            try await scene.removeAtServer()
            try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
        }
    }

    @Test("A token is told for every enrollment, once; another one, and none, are told again")
    func registers() async throws {
        try await SDKScene.with { scene in
            let app = scene.authenticator
            let token = Data([0xAB, 0xCD])
            try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
            #expect(try await scene.registered()?["environment"] == "production")
            try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
            #expect(scene.told == 1)
            // An enrollment that comes later brings it along.
            let second = try await scene.shop.makeUser()
            _ = try await app.enroll(with: .ticket(try await scene.shop.makeTicket(for: second)))
            let list = try await scene.shop.call(.GET, "/v1/users/\(second)/enrollments").success()
            #expect(list["enrollments"]?[0]?["push"]?["app"] == "com.example.bank")
            try await app.registerPush(token: token, app: "com.example.bank", environment: .production)
            #expect(scene.told == 1)
            try await app.registerPush(.fcm, app: "com.example.bank", token: "a:b")
            #expect(try await scene.registered()?["service"] == "fcm")
            #expect(scene.told == 3)
            try await app.unregisterPush()
            #expect(try await scene.registered() == nil)
        }
    }

    @Test("A day later the same token is told again, since the server may have dropped it; a new launch knows the day")
    func refreshes() async throws {
        try await SDKScene.with { scene in
            func launch() async throws {
                let app = try await scene.relaunched()
                try await app.registerPush(.fcm, app: "com.example.bank", token: "a:b")
            }
            try await launch()
            scene.server.clock.advance(seconds: 23 * 3600)
            try await launch()
            #expect(scene.told == 1)
            scene.server.clock.advance(seconds: 3700)
            try await launch()
            #expect(scene.told == 2)
        }
    }

    @Test("A token that does not get through is told with the next look for challenges")
    func resends() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseRequests(1, to: "/v1/enrollments/self")
            try await scene.authenticator.registerPush(.fcm, app: "com.example.bank", token: "a:b")
            #expect(try await scene.registered() == nil)
            let app = try await scene.relaunched()
            var challenges = app.challenges().makeAsyncIterator()
            let asked = try await scene.ask()
            #expect(await challenges.next()?.id == asked.id)
            #expect(try await scene.registered()?["service"] == "fcm")
        }
    }

    @Test("What is no token is refused before anything is sent", arguments: ["", "a b", "a/../b"])
    func refusesTokens(_ token: String) async throws {
        try await SDKScene.with { scene in
            let told = await code {
                try await scene.authenticator.registerPush(.fcm, app: "com.example.bank", token: token)
            }
            #expect(told == "configuration_invalid")
            let app = await code { try await scene.authenticator.registerPush(.fcm, app: "a b", token: "a:b") }
            #expect(app == "configuration_invalid")
            #expect(scene.told == 0)
        }
    }

    @Test("A push is read offline; others' pushes are nil, forged and stale ones are refused")
    func reads() async throws {
        try await SDKScene.with { scene in
            let app = scene.authenticator
            let (asked, payload) = try await scene.askedByPush()
            scene.transport.happen { _, _ in throw FaultyTransport.Lost() }
            let push = try #require(PushNotification(json: payload.encoded))
            let pending = try #require(try await app.pendingChallenge(from: push))
            #expect(pending.id == asked.id)
            #expect(pending.message == "Pay EUR 1,250.00 to ACME GmbH?")
            // As the system hands it over.
            let userInfo = try #require(
                try JSONSerialization.jsonObject(with: Data(payload.encoded)) as? [AnyHashable: Any])
            #expect(
                try await app.pendingChallenge(from: #require(PushNotification(userInfo: userInfo)))?.id == asked.id)
            #expect(PushNotification(userInfo: ["aps": ["alert": "Hello"]]) == nil)
            let long = userInfo.merging(["other": String(repeating: "/", count: 2000)]) { $1 }
            #expect(try await app.pendingChallenge(from: #require(PushNotification(userInfo: long)))?.id == asked.id)
            #expect(PushNotification(userInfo: ["countersign": "?"]) == nil)
            #expect(PushNotification(json: Array("{}".utf8)) == nil)
            func refusal(_ payload: JSONValue) async -> String {
                guard let push = PushNotification(json: payload.encoded) else { return "unreadable" }
                do {
                    return try await app.pendingChallenge(from: push) == nil ? "nil" : "taken"
                } catch {
                    #expect(error.code == "push_refused")
                    return "\(error)"
                }
            }
            let text = payload.text
            func changed(_ old: String, _ new: String) throws -> JSONValue {
                try JSONValue(parsing: Array(text.replacing(old, with: new).utf8))
            }
            #expect(
                try await refusal(changed("Pay EUR 1,250.00", "Pay EUR 1.00")) == "The push is refused (alteredAlert).")
            let stranger = "enr_00000000000000000000000000"
            #expect(try await refusal(changed("\(scene.enrollment.id)", stranger)) == "nil")
            scene.server.clock.advance(seconds: 600)
            #expect(await refusal(payload) == "The push is refused (outOfTime).")
        }
    }

    @Test("Pushes and polls are one queue: each challenge comes once, whichever brought it first")
    func merges() async throws {
        try await SDKScene.with { scene in
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            let (first, pushed) = try await scene.askedByPush()
            let push = try #require(PushNotification(json: pushed.encoded))
            for _ in 0..<3 { #expect(try await scene.authenticator.receive(push)?.id == first.id) }
            #expect(await challenges.next()?.id == first.id)
            let second = try await scene.ask()
            #expect(await challenges.next()?.id == second.id)
            _ = try await scene.authenticator.receive(push)
            let third = try await scene.ask()
            #expect(await challenges.next()?.id == third.id)
        }
    }

    @Test("A push is enough: what it announces comes although asking fails")
    func pushAlone() async throws {
        try await SDKScene.with { scene in
            let (asked, pushed) = try await scene.askedByPush()
            let push = try #require(PushNotification(json: pushed.encoded))
            scene.transport.happen { request, send in
                if request.url.path.hasSuffix("/self/challenges") { throw FaultyTransport.Lost() }
                return try await send(request)
            }
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            let next = Task { await challenges.next() }
            // Until somebody listens there is nobody to hand it to.
            while scene.transport.requests(to: "/self/challenges").count < 2 { await Task.yield() }
            try await scene.authenticator.receive(push)
            let pending = try #require(await next.value)
            #expect(pending.id == asked.id)
            try await pending.open().deny()
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }

    /// Looks for the next challenge on a connection that hangs, its reply to come when the test is long over; whoever
    /// looks anew is answered.
    private func look(in scene: SDKScene) async -> Task<ChallengeID?, Never> {
        let isHanging = Hanging()
        scene.transport.happen { request, send in
            if request.url.path.hasSuffix("/self/challenges"), await isHanging.value {
                await isHanging.note()
                try await Task.sleep(for: .seconds(600))
            }
            return try await send(request)
        }
        var challenges = scene.authenticator.challenges().makeAsyncIterator()
        let next = Task { await challenges.next()?.id }
        await isHanging.reached()
        await isHanging.end()
        return next
    }

    @Test("A push that takes a notification back says whose, announces nothing, and has the server asked")
    func withdrawn() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let next = await look(in: scene)
            func push(_ challenge: ChallengeID, _ enrollment: EnrollmentID) throws -> PushNotification {
                let payload = PushWithdrawal.payload(of: challenge, for: enrollment)
                return try #require(PushNotification(json: payload.encoded))
            }
            let own = try push(asked.id, scene.enrollment.id)
            #expect(own.withdrawnChallenge == asked.id)
            #expect(try await scene.authenticator.receive(own) == nil)
            // The connection that hung is given up: what is pending came by another.
            #expect(await next.value == asked.id)
            // Nobody signed it: the challenge stands as the server says.
            #expect(try await scene.status(of: asked).state == "pending")
            let stranger = try #require(EnrollmentID("enr_00000000000000000000000000"))
            #expect(try await scene.authenticator.receive(try push(asked.id, stranger)) == nil)
        }
    }

    @Test("In the foreground it is asked at once, whatever pause or lost connection it was in")
    func foreground() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let next = await look(in: scene)
            await scene.authenticator.lookNow()
            #expect(await next.value == asked.id)
        }
    }

    /// Whether requests hang, and whether one does.
    private actor Hanging {
        private(set) var value = true
        private var count = 0
        private var waiting: CheckedContinuation<Void, Never>?

        func note() {
            count += 1
            waiting?.resume()
            waiting = nil
        }

        func reached() async {
            if count == 0 { await withCheckedContinuation { waiting = $0 } }
        }

        func end() { value = false }
    }

    @Test("On a notification it is approved only what the notification shows whole")
    func quickApproval() async throws {
        try await SDKScene.with { scene in
            let type: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "number_entry": false]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/login", type).success()
            func pending(_ members: JSONObject) async throws -> (SDKScene.Asked, PendingChallenge) {
                let asked = try await scene.ask(members)
                let pending = try await scene.authenticator.pendingChallenges().first { $0.id == asked.id }
                return (asked, try #require(pending))
            }
            let bare: JSONObject = ["type": "login", "message": "Sign in?"]
            let (asked, plain) = try await pending(bare)
            guard case .done = try await plain.perform(.approve) else {
                Issue.record("not approved")
                return
            }
            #expect(try await scene.status(of: asked).state == "approved")
            let more: [(String, JSONValue)] = [
                ("details", [["label": "From", "value": "Oslo"]]), ("secure_message", "Sign in to the vault?"),
                ("type", "payment"), ("context", ["ip": "203.0.113.7"]), ("signing_data", "data"),
            ]
            for (name, value) in more {
                var members = bare
                members[name] = value
                let (asked, shown) = try await pending(members)
                guard case .needsReview(let question) = try await shown.perform(.approve) else {
                    Issue.record("\(name): not reviewed")
                    continue
                }
                #expect(question.id == asked.id)
                #expect(try await scene.status(of: asked).state == "pending")
                _ = try await shown.perform(name == "type" ? .report : .deny)
                #expect(try await scene.status(of: asked).state == "denied")
                if name == "type" {
                    #expect(
                        try await scene.server.administrator.call(.DELETE, "/v1/admin/locks/\(asked.id)").status == 204)
                }
            }
        }
    }

    @Test("Each category offers its actions")
    func actions() {
        #expect(PushCategory.confirm.actions == [.approve, .deny, .report])
        #expect(PushCategory.review.actions == [.deny, .report])
    }
}
