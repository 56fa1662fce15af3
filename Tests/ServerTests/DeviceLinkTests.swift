import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Links on the same device, POST /v1/challenges/{challenge}/return", .timeLimit(.minutes(15)))
struct DeviceLinkTests {
    private static let returnURI = "https://shop.example.com/back"

    /// A request by a link.
    private static let body: JSONValue = [
        "type": "qr", "message": "Sign in to ACME?", "return_uri": .string(returnURI),
    ]

    /// Asks by a link, and what a phone makes of that.
    private static func ask(_ scene: DeviceScene) async throws -> (id: String, path: String, code: JSONValue) {
        try link(in: try await scene.shop.call(.POST, "/v1/challenges", body).success(), scene)
    }

    /// What a phone makes of the reply to a request by a link.
    private static func link(
        in asked: JSONValue, _ scene: DeviceScene
    ) throws -> (id: String, path: String, code: JSONValue) {
        let id = try #require(asked["id"]?.string)
        #expect(asked["code"]?["qr"] == nil)
        let link = try #require(asked["code"]?["link"]?.string)
        #expect(link.hasPrefix("\(scene.server.issuer)/q#"))
        let code = try #require(ChallengeCode(link: link, to: scene.server.issuer))
        return (id, "/v1/challenges/\(id)", code.claim)
    }

    private static func register(_ scene: DeviceScene) async throws {
        let client = "/v1/admin/clients/\(scene.shop.clientID)"
        let updated = try await scene.server.administrator.call(
            .PATCH, client, ["return_uris": [.string(returnURI)]]
        ).success()
        #expect(updated["return_uris"] == [.string(returnURI)])
    }

    private static func answer(_ id: String, _ decision: Decision, in scene: DeviceScene) async throws -> Reply {
        let receipt = scene.phone.receipt(of: try await scene.phone.open(id).question, decision)
        return try await scene.phone.answer(id, message: try await scene.phone.seal(receipt.text))
    }

    /// A challenge that the phone has approved by a link, and the code that would release it.
    private static func held(_ scene: DeviceScene) async throws -> (path: String, code: JSONValue) {
        try await register(scene)
        let (id, path, code) = try await ask(scene)
        #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code).status == 204)
        let answered = try await answer(id, .approved(.confirm, number: nil), in: scene).success()
        return (path, .string(try await scene.phone.returnCode(in: answered)))
    }

    @Test("A link, an approval that only the device hears of, and the code that releases it")
    func whole() async throws {
        try await DeviceScene.with { scene in
            try await Self.register(scene)
            let (id, path, code) = try await Self.ask(scene)
            let shown = try await scene.shop.call(.GET, "\(path)/code").success()
            #expect(shown["link"]?.string != nil && shown["qr"] == nil)
            expectRefusal(try await scene.shop.call(.GET, "\(path)/qr.svg"), 404, "no_code")
            #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code).status == 204)
            #expect(try await scene.phone.open(id).returnURI?.description == Self.returnURI)
            let answered = try await Self.answer(id, .approved(.confirm, number: nil), in: scene).success()
            #expect(answered["state"] == "approved")
            #expect(answered["return_to"] == nil, "neither the place nor the code is there to be read or changed")
            let returned = JSONValue.string(try await scene.phone.returnCode(in: answered))
            let before = try await scene.shop.call(.GET, path).success()
            #expect(before["state"] == "pending" && before["method"] == nil && before["ended_at"] == nil)
            #expect(before["receipt"] == nil)
            let polled = try await scene.shop.call(.GET, "\(path)?wait=1").success()
            #expect(polled["state"] == "pending" && polled["receipt"] == nil)
            expectRefusal(try await scene.shop.call(.GET, "\(path)/receipt"), 404, "no_receipt")
            expectRefusal(try await scene.phone.send(.GET, "\(path)/message"), 409, "already_ended")
            expectRefusal(
                try await scene.shop.call(.POST, "\(path)/return", ["return_code": "x"]), 422, "return_code_invalid")
            let elsewhere = try await scene.server.makeClient("Elsewhere")
            expectRefusal(
                try await elsewhere.call(.POST, "\(path)/return", ["return_code": returned]), 404, "challenge_not_found"
            )
            let released = try await scene.shop.call(.POST, "\(path)/return", ["return_code": returned]).success()
            #expect(released["state"] == "approved" && released["user"] == .string(scene.user))
            let again = try await scene.shop.call(.POST, "\(path)/return", ["return_code": returned])
            expectRefusal(again, 409, "already_ended")
            #expect(again.json["state"] == "approved")
            #expect(try await scene.shop.call(.GET, path).success()["receipt"]?.string != nil)
            #expect(try await scene.shop.call(.GET, "\(path)/receipt").status == 200)
            #expect(try await scene.events("challenge.returning").count == 1)
        }
    }

    @Test("A stream tells neither the end nor the receipt of an approval by a link before its code has released it")
    func streamed() async throws {
        try await DeviceScene.with { scene in
            try await Self.register(scene)
            try await scene.shop.stream("/v1/challenges", posting: Self.body, key: "one") { stream in
                var events = stream.makeAsyncIterator()
                let asked = try #require(try await events.next()?.data)
                let (id, path, code) = try Self.link(in: asked, scene)
                #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code).status == 204)
                let claimed = try #require(try await events.next())
                #expect(claimed.name == nil, "\(claimed)")
                let answered = try await Self.answer(id, .approved(.confirm, number: nil), in: scene).success()
                #expect(answered["state"] == "approved")
                // The next heartbeat: it has looked at the challenge as it is now, and tells nothing of it.
                scene.server.clock.advance(seconds: 16)
                let held = try #require(try await events.next())
                #expect(held.name == nil && held.data == nil, "\(held)")
                let returned = JSONValue.string(try await scene.phone.returnCode(in: answered))
                _ = try await scene.shop.call(.POST, "\(path)/return", ["return_code": returned]).success()
                var told: [ServerEvent] = []
                while let event = try await events.next() { if event.name != nil { told.append(event) } }
                #expect(told.map(\.name) == ["ended"])
                #expect(told.first?.data?["state"] == "approved")
                let receipt = try await scene.shop.call(.GET, "\(path)/receipt")
                #expect(receipt.status == 200)
                #expect(told.first?.data?["receipt"] == .string(String(decoding: receipt.body, as: UTF8.self)))
            }
        }
    }

    @Test("A link made into a picture is none, by whatever marker, and a claim that says so is refused")
    func madeIntoPicture() async throws {
        try await DeviceScene.with { scene in
            try await Self.register(scene)
            let (_, path, code) = try await Self.ask(scene)
            let otp = try #require(code["otp"]?.string)
            #expect(otp.hasPrefix("link.") && code["via"] == "link")
            let members: JSONValue = ["transaction_id": code["transaction_id"] ?? .null, "otp": .string(otp)]
            #expect(ChallengeCode(Base64.encode(members.encoded)) == nil)
            for claimed in [otp, "qr.\(otp.dropFirst(5))"] {
                var forged = code.object ?? [:]
                forged["via"] = "qr"
                forged["otp"] = .string(claimed)
                expectRefusal(
                    try await scene.phone.send(.POST, "/v1/challenges/claim", .object(forged)), 422, "code_invalid")
            }
            #expect(try await scene.shop.call(.GET, path).success()["claimed_at"] == nil)
            #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code).status == 204)
            #expect(try await scene.events("challenge.claimed").map { $0["detail"]?["via"] } == ["link"])
        }
    }

    @Test("A removed device's approval by a link is not released: it fails, and so does its code")
    func removed() async throws {
        try await DeviceScene.with { scene in
            let (path, returned) = try await Self.held(scene)
            let device = "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)"
            #expect(try await scene.shop.call(.DELETE, device).status == 204)
            let refused = try await scene.shop.call(.POST, "\(path)/return", ["return_code": returned])
            expectRefusal(refused, 409, "already_ended")
            #expect(refused.json["state"] == "failed" && refused.json["reason"] == "device_removed")
            #expect(try await scene.shop.call(.GET, path).success()["state"] == "failed")
            expectRefusal(try await scene.shop.call(.GET, "\(path)/receipt"), 404, "no_receipt")
        }
    }

    @Test("A suspended device's approval by a link fails as that, at once, and stays so when the device is resumed")
    func suspended() async throws {
        try await DeviceScene.with { scene in
            let (path, returned) = try await Self.held(scene)
            let administrator = scene.server.administrator
            let device = "/v1/admin/enrollments/\(scene.phone.enrollment)"
            #expect(try await administrator.call(.POST, "\(device)/suspend").status == 204)
            let ended = try await scene.shop.call(.GET, path).success()
            #expect(ended["state"] == "failed" && ended["reason"] == "device_suspended")
            #expect(try await administrator.call(.POST, "\(device)/resume").status == 204)
            let refused = try await scene.shop.call(.POST, "\(path)/return", ["return_code": returned])
            expectRefusal(refused, 409, "already_ended")
            #expect(refused.json["state"] == "failed" && refused.json["reason"] == "device_suspended")
            expectRefusal(try await scene.shop.call(.GET, "\(path)/receipt"), 404, "no_receipt")
        }
    }

    @Test("Ten wrong codes a minute for a challenge are looked at")
    func limit() async throws {
        try await DeviceScene.with { scene in
            try await Self.register(scene)
            let (_, path, _) = try await Self.ask(scene)
            for _ in 0..<10 {
                expectRefusal(
                    try await scene.shop.call(.POST, "\(path)/return", ["return_code": "x"]), 422,
                    "return_code_invalid")
            }
            let refused = try await scene.shop.call(.POST, "\(path)/return", ["return_code": "x"])
            expectRefusal(refused, 429, "rate_limited")
            let seconds = try #require(refused.json["retry_after"]?.integer)
            #expect((1...60).contains(seconds))
        }
    }

    @Test("A place to return to must be registered, to the byte, and be a URL without a code of its own")
    func wrong() async throws {
        try await DeviceScene.with { scene in
            try await Self.register(scene)
            func body(_ type: String, _ uri: JSONValue) -> JSONValue {
                ["type": .string(type), "message": "Sign in?", "user": .string(scene.user), "return_uri": uri]
            }
            for uri in ["https://shop.example.com/back/", "https://evil.example.com", ""] {
                expectRefusal(
                    try await scene.shop.call(.POST, "/v1/challenges", body("qr", .string(uri))), 422,
                    "return_not_registered", at: "/return_uri")
            }
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", body("qr", 1)), 422, "invalid_member",
                at: "/return_uri")
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", body("confirm", .string(Self.returnURI))), 422,
                "not_allowed_by_type", at: "/return_uri")
            let client = "/v1/admin/clients/\(scene.shop.clientID)"
            let administrator = scene.server.administrator
            for (uris, pointer) in [
                (["https://shop.example.com/?return_code=x"], "/return_uris/0"),
                (["javascript:alert(1)"], "/return_uris/0"), (["shop:/back"], "/return_uris/0"),
                (["com.example.shop:/back#x"], "/return_uris/0"), (["https:/back"], "/return_uris/0"),
                (["https://shop.example.com/#x"], "/return_uris/0"), ([1], "/return_uris/0"),
                (.array(Array(repeating: .string(Self.returnURI), count: 33)), "/return_uris"),
            ] as [(JSONValue, String)] {
                expectRefusal(
                    try await administrator.call(.PATCH, client, ["return_uris": uris]), 422, "invalid_member",
                    at: pointer)
            }
            let path = try await Self.ask(scene).path
            for (body, code, pointer) in [
                ([:], "missing_member", "/return_code"), (["return_code": 1], "invalid_member", "/return_code"),
                (["return_code": "x", "user": "x"], "unknown_member", "/user"),
            ] as [(JSONValue, String, String)] {
                expectRefusal(try await scene.shop.call(.POST, "\(path)/return", body), 422, code, at: pointer)
            }
            let own: JSONValue = ["com.example.shop:/back"]
            #expect(try await administrator.call(.PATCH, client, ["return_uris": own]).success()["return_uris"] == own)
            let removed = try await administrator.call(.PATCH, client, ["return_uris": []]).success()
            #expect(removed["return_uris"] == [])
        }
    }

    @Test("A link that no app has taken leads to a page, which learns nothing of it")
    func page() async throws {
        try await DeviceScene.with { scene in
            let page = try await scene.server.send(.GET, "/q")
            #expect(page.status == 200)
            #expect(String(decoding: page.body, as: UTF8.self).contains("This link opens in an app"))
        }
    }
}
