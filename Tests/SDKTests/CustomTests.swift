import Countersign
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Approving by custom authenticators", .timeLimit(.minutes(15)))
struct CustomTests {
    /// A scene with a hook that says these things, and a type that asks for it first.
    private static func with(
        _ verdicts: [JSONValue], _ body: @escaping @Sendable (SDKScene, CallbackReceiver) async throws -> Void
    ) async throws {
        try await CallbackReceiver.with(saying: verdicts) { receiver in
            try await SDKScene.with { scene in
                let administrator = scene.server.administrator
                let hook: JSONValue = ["name": "phrase", "hook": .string(receiver.url), "attempts": 3]
                _ = try await administrator.call(
                    .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["authenticators": [hook]]
                ).success()
                let type: JSONValue = [
                    "methods": ["custom:phrase", "pin"], "number_entry": false, "denial_pause": 0, "max_pending": 100,
                ]
                _ = try await administrator.call(.PUT, "/v1/admin/types/spoken", type).success()
                try await body(scene, receiver)
            }
        }
    }

    @Test("Registered, used, given up, with what the hook says to the app")
    func wholeLife() async throws {
        try await Self.with([["result": "ok", "payload": "welcome"], ["result": "ok", "payload": "seen"]]) { scene, _ in
            #expect(try await scene.enrollment.methods().custom == ["phrase": false])
            #expect(try await scene.enrollment.register(custom: "phrase", data: "correct horse") == "welcome")
            #expect(try await scene.enrollment.methods().custom == ["phrase": true])
            let asked = try await scene.ask(["type": "spoken"])
            let question = try await scene.open(asked)
            #expect(question.methods.map(\.rawValue) == ["custom:phrase", "pin"])
            #expect(try await question.approve(with: .custom("phrase", data: "correct horse")).payload == "seen")
            #expect(try await scene.status(of: asked).state == "approved")
            let verified = try await scene.receipt(asked)
            guard case .approved(.custom, nil) = verified.receipt.decision else {
                Issue.record("\(verified.receipt.decision)")
                return
            }
            try await scene.enrollment.deregister(custom: "phrase")
            #expect(try await scene.enrollment.methods().custom == ["phrase": false])
            let again = await code { try await scene.enrollment.deregister(custom: "phrase") }
            #expect(again == "custom_not_registered")
        }
    }

    @Test("Another try, a refusal and the PIN, all in the same challenge; and the connection is online throughout")
    func sameChallenge() async throws {
        let verdicts: [JSONValue] = [
            ["result": "ok"], ["result": "retry", "payload": "colder"], ["result": "none"], ["result": "fail"],
        ]
        try await Self.with(verdicts) { scene, _ in
            try await scene.setPIN()
            try await scene.enrollment.register(custom: "phrase", data: "correct horse", pin: try PIN(SDKScene.pin))
            let asked = try await scene.ask(["type": "spoken"])
            let question = try await scene.open(asked)
            do throws(CountersignError) {
                try await question.approve(with: .custom("phrase", data: "guess"))
                Issue.record("approved")
            } catch {
                guard case .customRetry(attemptsLeft: 2, payload: "colder") = error else {
                    Issue.record("\(error)")
                    return
                }
            }
            for expected in ["custom_unavailable", "custom_failed", "custom_not_registered"] {
                let told = await code { try await question.approve(with: .custom("phrase", data: "guess")) }
                #expect(told == expected)
                #expect(await scene.authenticator.connectionState == .online)
            }
            try await question.approve(with: .pin(try PIN(SDKScene.pin)))
            #expect(try await scene.status(of: asked).state == "approved")
        }
    }

    @Test("A lost reply is got again without the hook being asked twice")
    func lostReply() async throws {
        try await Self.with([["result": "ok", "payload": "a"], ["result": "ok", "payload": "b"]]) { scene, receiver in
            scene.transport.sendTwice(2, to: "/methods")
            #expect(try await scene.enrollment.register(custom: "phrase", data: "correct horse") == "a")
            let asked = try await scene.ask(["type": "spoken"])
            let question = try await scene.open(asked)
            scene.transport.loseReplies(1, from: "/answer")
            #expect(try await question.approve(with: .custom("phrase", data: "correct horse")).payload == "b")
            var calls = receiver.calls.makeAsyncIterator()
            for type in ["authenticator.register", "authenticator.verify"] {
                let call = try #require(await calls.next())
                #expect(try JSONValue(parsing: call.body)["type"] == .string(type))
            }
            try await scene.enrollment.deregister(custom: "phrase")
            let call = try #require(await calls.next())
            #expect(try JSONValue(parsing: call.body)["type"] == "authenticator.deregistered", "nothing between")
        }
    }

    @Test("What cannot be is told before anything is sent")
    func refusedHere() async throws {
        try await Self.with([]) { scene, _ in
            for name in ["", "Phrase", "a b", String(repeating: "a", count: 33)] {
                let told = await code { try await scene.enrollment.register(custom: name, data: "x") }
                #expect(told == "configuration_invalid", "\(name)")
            }
            let long = String(repeating: "x", count: 16_385)
            let told = await code { try await scene.enrollment.register(custom: "phrase", data: long) }
            #expect(told == "configuration_invalid")
            let unknown = await code { try await scene.enrollment.register(custom: "face", data: "x") }
            #expect(unknown == "custom_not_registered")
            try await scene.setPIN()
            let locked = await code { try await scene.enrollment.register(custom: "phrase", data: "x") }
            #expect(locked == "pin_required")
        }
    }
}
