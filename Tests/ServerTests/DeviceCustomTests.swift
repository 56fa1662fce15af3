import Crypto
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

extension TestPhone {
    /// What a custom authenticator is to judge, sealed.
    fileprivate func sealed(_ data: String) async throws -> [UInt8] {
        // It goes to the hook, and nowhere else.
        server.watch.plant(data, "what a custom authenticator judges")
        return try await seal(try #require(CustomData(data)).text)
    }

    /// Registers a custom authenticator, or gives it up.
    fileprivate func register(_ name: AuthenticatorName, _ data: String?) async throws -> Reply {
        let methods = try MethodsReply(try await send(.GET, "/v1/enrollments/self/methods").success())
        var customData: [UInt8]?
        if let data { customData = try await sealed(data) }
        let change = AuthenticatorChange(
            ChangeHeader(issuer: server.issuer, enrollment: enrollment, nonce: methods.nonce), name: name,
            customDataHash: customData.map { Array(SHA256.hash(data: $0)) })
        return try await self.change(
            MethodChangeRequest(message: try await seal(change.text), customData: customData))
    }

    /// Approves by a custom authenticator.
    fileprivate func approve(
        _ asked: DeviceScene.Asked, by name: AuthenticatorName, _ data: String
    ) async throws -> Reply {
        let question = try await open(asked.id).question
        let customData = try await sealed(data)
        let receipt = Receipt(
            of: question, user: user, device: certificate.fingerprint,
            decision: .approved(.custom(name), number: asked.number),
            customDataHash: Array(SHA256.hash(data: customData)), answeredAt: server.clock.now)
        let answer = AnswerRequest(message: try await seal(receipt.text), customData: customData)
        return try await send(.POST, "\(asked.path)/answer", answer.json)
    }
}

@Suite("Custom authenticators, over HTTP and with a hook that listens")
struct DeviceCustomTests {
    @Test("A hook that hangs takes no place among the requests that are worked on")
    func hangingHook() async throws {
        let name = try #require(AuthenticatorName("phrase"))
        try await DeviceScene.with(mostLoad: 1) { scene in
            let silent = try await SilentHost()
            let uri = JSONValue.string("http://127.0.0.1:\(silent.port)/hook")
            let hook: JSONValue = ["name": "phrase", "hook": uri, "deadline": 3]
            let client = "/v1/admin/clients/\(scene.shop.clientID)"
            _ = try await scene.server.administrator.call(.PATCH, client, ["authenticators": [hook]]).success()
            async let registered = scene.phone.register(name, "correct horse")
            await silent.connection()
            for _ in 0..<5 { #expect(try await scene.shop.call(.GET, "/v1/users/\(scene.user)").status == 200) }
            #expect(try await registered.refusal == Refusal(503, "custom_unavailable"))
            try await silent.close()
        }
    }

    @Test("Custom authenticators over HTTP: registered, tried again, refused, unknown and unreachable")
    func wholeLife() async throws {
        let verdicts: [JSONValue] = [
            ["result": "ok", "payload": "welcome"], ["result": "retry", "payload": "colder"], ["result": "ok"],
            ["result": "neither"], ["result": "fail", "payload": "gone"],
        ]
        let name = try #require(AuthenticatorName("phrase"))
        try await CallbackReceiver.with(saying: verdicts) { receiver in
            try await DeviceScene.with { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let administrator = scene.server.administrator
                let client = "/v1/admin/clients/\(scene.shop.clientID)"
                let hook: JSONValue = ["name": "phrase", "hook": .string(receiver.url), "attempts": 2]
                let updated = try await administrator.call(.PATCH, client, ["authenticators": [hook]]).success()
                #expect(
                    updated["authenticators"]
                        == [["name": "phrase", "hook": .string(receiver.url), "deadline": 5, "attempts": 2]])
                let type: JSONValue = ["methods": ["custom:phrase", "confirm"], "denial_pause": 0]
                _ = try await administrator.call(.PUT, "/v1/admin/types/payment", type).success()

                let welcome = try await scene.phone.register(name, "correct horse")
                #expect(welcome.status == 200 && welcome.json["payload"] == "welcome")
                let registering = try JSONValue(parsing: try #require(await calls.next()).body)
                #expect(registering["type"] == "authenticator.register" && registering["data"] == "correct horse")
                #expect(registering["user"]?["external_id"] == "customer-1")
                let methods = try await scene.phone.send(.GET, "/v1/enrollments/self/methods").success()
                #expect(methods["custom"] == [["name": "phrase", "registered": true]])
                let devices = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
                #expect(devices["enrollments"]?[0]?["custom"] == ["phrase"])

                let asked = try await scene.ask()
                let retry = try await scene.phone.approve(asked, by: name, "battery staple")
                #expect(retry.refusal == Refusal(422, "custom_retry"))
                #expect(retry.json["attempts_left"] == 1 && retry.json["payload"] == "colder")
                let post = try #require(await calls.next())
                let verifying = try JSONValue(parsing: post.body)
                #expect(verifying["challenge"] == ["id": .string(asked.id), "type": "payment"])
                #expect(post.headers["webhook-signature"]?.hasPrefix("v1,") == true)
                let approved = try await scene.phone.approve(asked, by: name, "correct horse").success()
                #expect(approved["state"] == "approved" && approved["payload"] == nil)
                let shown = try await scene.shop.call(.GET, asked.path).success()
                #expect(shown["state"] == "approved" && shown["method"] == "custom:phrase")
                _ = await calls.next()

                let other = try await scene.ask()
                let unavailable = try await scene.phone.approve(other, by: name, "correct horse")
                #expect(unavailable.refusal == Refusal(503, "custom_unavailable"))
                let failed = try await scene.phone.approve(other, by: name, "correct horse")
                #expect(failed.refusal == Refusal(422, "custom_failed") && failed.json["payload"] == "gone")
                for _ in 0..<2 { _ = await calls.next() }
                let told = try JSONValue(parsing: try #require(await calls.next()).body)
                #expect(told["type"] == "authenticator.deregistered")
                #expect(told["enrollment"] == .string("\(scene.phone.enrollment)"))
                let unknown = try await scene.phone.approve(other, by: name, "correct horse")
                #expect(unknown.refusal == Refusal(409, "custom_not_registered"))
                #expect(try await scene.shop.call(.GET, other.path).success()["state"] == "pending")
                let never = try await scene.phone.register(name, nil)
                #expect(never.refusal == Refusal(409, "custom_not_registered"))
            }
        }
    }

    @Test("What a client judges itself is checked: names, URLs, limits, and each name once")
    func configuration() async throws {
        try await DeviceScene.with { scene in
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            let good: JSONValue = ["name": "a", "hook": "https://shop.example.com/a"]
            func hook(_ members: JSONObject) -> JSONValue {
                var object = good.object ?? [:]
                for member in members.members { object[member.name] = member.value }
                return .array([.object(object)])
            }
            for (value, pointer) in [
                (hook(["name": "A"]), "/authenticators/0/name"), (hook(["hook": "ftp://x"]), "/authenticators/0/hook"),
                (hook(["hook": "http://shop.example.com/"]), "/authenticators/0/hook"),
                (hook(["deadline": 11]), "/authenticators/0/deadline"),
                (hook(["attempts": 0]), "/authenticators/0/attempts"), ([good, good], "/authenticators"),
                ("phrase", "/authenticators"),
            ] as [(JSONValue, String)] {
                let reply = try await scene.server.administrator.call(.PATCH, path, ["authenticators": value])
                #expect(reply.refusal == Refusal(422, "invalid_member") && reply.json["pointer"] == .string(pointer))
            }
            let unknown = try await scene.server.administrator.call(
                .PATCH, path, ["authenticators": hook(["secret": "x"])])
            #expect(unknown.refusal == Refusal(422, "unknown_member"))
            let two: JSONValue = [good, ["name": "b", "hook": "https://shop.example.com/b", "deadline": 1]]
            let set = try await scene.server.administrator.call(.PATCH, path, ["authenticators": two]).success()
            #expect(set["authenticators"]?.array?.count == 2)
            let kept = try await scene.server.administrator.call(.PATCH, path, ["name": "Shop"]).success()
            #expect(kept["authenticators"]?.array?.count == 2)
            let none = try await scene.server.administrator.call(.PATCH, path, ["authenticators": []]).success()
            #expect(none["authenticators"] == [])
        }
    }
}
