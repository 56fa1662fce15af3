import NIOHTTP1
import Encodings
import ServerTestSupport
import Testing

@Suite("What may not be asked")
struct AskRefusalTests {
    /// A wrong value of one member, and the refusal it gets.
    private struct Wrong {
        let member: String
        let value: JSONValue?
        let code: String
        let pointer: String?
        let status: Int

        init(_ member: String, _ value: JSONValue?, _ code: String, at pointer: String? = nil, status: Int = 422) {
            self.member = member
            self.value = value
            self.code = code
            self.pointer = pointer ?? "/\(member)"
            self.status = status
        }

        /// Without a pointer.
        init(_ member: String, _ value: JSONValue, missing code: String) {
            self.member = member
            self.value = value
            self.code = code
            pointer = nil
            status = 404
        }
    }

    private func expectRefused(
        _ table: [Wrong], by caller: Caller, in scene: Scene, type: String = "payment"
    ) async throws {
        let before = try await scene.snapshot()
        for wrong in table {
            var body = JSONObject(["user": .string(scene.user), "type": .string(type), "message": "Pay?"])
            body[wrong.member] = wrong.value
            let reply = try await caller.call(.POST, "/v1/challenges", .object(body))
            let what = "\(wrong.member) \(String(describing: wrong.value).prefix(80))"
            expectRefusal(reply, wrong.status, wrong.code, at: wrong.pointer, what)
        }
        #expect(try await scene.snapshot() == before)
    }

    private static func repeated(_ count: Int) -> JSONValue { .string(String(repeating: "a", count: count)) }

    @Test("Each member missing or of a wrong kind is 422 with its pointer, and nobody is asked")
    func members() async throws {
        let detail: JSONValue = ["label": "Amount", "value": "1"]
        var table = ["user", "type", "message"].flatMap {
            [Wrong($0, nil, "missing_member"), Wrong($0, .null, "missing_member"), Wrong($0, 1, "invalid_member")]
        }
        let wrong: [(String, [JSONValue])] = [
            ("user", ["", "nobody", "usr_x", "enr_01m7yfdvpt5prmr79m8dcgymep", "external_id:", "external_id:a\nb"]),
            ("type", ["", "Payment", "1payment", "pay ment", "päyment", Self.repeated(65)]),
            ("message", [[], ["a"], true]),
            ("secure_message", [1, [:], true]),
            ("details", [[:], "a", .array(Array(repeating: detail, count: 33))]),
            ("signing_data", ["", 1, [], "a\u{0}b"]),
            ("context", ["a", 1, []]),
            ("number_entry", ["true", 1, 0]),
            ("expires_in", [9, 0, -60, 86401, "60", .double(60.5), true]),
            ("methods", [[], ["fingerprint"], ["Confirm"], [1], "confirm", ["confirm", "confirm"]]),
            ("enrollments", [[], ["x"], [1], "enr_01m7yfdvpt5prmr79m8dcgymep", ["usr_01m7yfdvpt5prmr79m8dcgymep"]]),
            ("callback_uri", [1, ["https://shop.example.com"], true]),
            ("locale", ["", "de_DE", "dé", 1, Self.repeated(36)]),
            ("state", [1, ["a"], "\u{0}", Self.repeated(1025), .string(String(repeating: "ä", count: 513))]),
        ]
        for (member, values) in wrong { table += values.map { Wrong(member, $0, "invalid_member") } }
        try await Scene.with { [table] in try await expectRefused(table, by: $0.shop, in: $0) }
    }

    @Test("What is wrong inside details and context is named to the last member")
    func nested() async throws {
        let table: [Wrong] = [
            Wrong("details", [1], "invalid_member", at: "/details/0"),
            Wrong("details", [.null], "invalid_member", at: "/details/0"),
            Wrong("details", [[:]], "missing_member", at: "/details/0/label"),
            Wrong("details", [["label": "a"]], "missing_member", at: "/details/0/value"),
            Wrong("details", [["label": 1, "value": "a"]], "invalid_member", at: "/details/0/label"),
            Wrong("details", [["label": "a", "value": 1]], "invalid_member", at: "/details/0/value"),
            Wrong(
                "details", [["label": "a", "value": "b"], ["label": "a", "value": "b", "c": 1]], "unknown_member",
                at: "/details/1/c"),
            Wrong("context", ["ip": 1], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "nonsense"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": ""], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "256.0.0.1"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "203.0.113.7\u{0}, Berlin"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "203.0.113.7, Berlin"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "fe80::1%eth0"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["ip": "203.0.113.0/24"], "invalid_member", at: "/context/ip"),
            Wrong("context", ["user_agent": 1], "invalid_member", at: "/context/user_agent"),
            Wrong("context", ["user_agent": Self.repeated(1025)], "invalid_member", at: "/context/user_agent"),
            Wrong("context", ["city": "Berlin"], "unknown_member", at: "/context/city"),
        ]
        try await Scene.with { try await expectRefused(table, by: $0.shop, in: $0) }
    }

    @Test("A request can only tighten its type")
    func loosened() async throws {
        let type: JSONValue = ["expires_in": 60, "signing_data": false, "max_pending": 100]
        let table = [
            Wrong("number_entry", false, "not_allowed_by_type"), Wrong("expires_in", 61, "not_allowed_by_type"),
            Wrong("signing_data", "data", "not_allowed_by_type"),
        ]
        try await Scene.with(type: type) { scene in
            try await expectRefused(table, by: scene.shop, in: scene)
            // Tightened, or left as it is, it is asked.
            let plain: JSONValue = ["number_entry": false, "expires_in": 3600]
            try await scene.administrator.call(.PUT, "/v1/admin/types/plain", plain)
            let tight = try await scene.shop.ask(
                scene.user,
                ["type": "plain", "number_entry": true, "expires_in": 10, "methods": ["confirm"], "signing_data": "x"])
            #expect(tight["number"] != nil)
            let asIs = try await scene.shop.ask(scene.user, ["type": "plain", "number_entry": .null])
            #expect(asIs["number"] == nil)
        }
    }

    @Test("A callback must be registered, to the byte")
    func callback() async throws {
        let registered = "https://shop.example.com/countersign?a=b"
        let table = [
            "https://shop.example.com/countersign", "https://shop.example.com/countersign?a=b&c",
            "https://shop.example.com/countersign?a=B", "https://SHOP.example.com/countersign?a=b",
            "https://shop.example.com:443/countersign?a=b", "https://evil.example.com", "", " \(registered)",
            "\(registered)#", "\(registered)/",
        ].map { Wrong("callback_uri", .string($0), "callback_not_registered") }
        try await Scene.with(client: ["callback_uris": [.string(registered)]]) { scene in
            try await expectRefused(table, by: scene.shop, in: scene)
            let rival = try await scene.server.makeClient("Rival")
            let user = try await rival.makeUser()
            _ = try await TestPhone.enrolled(for: user, by: rival, at: scene.server)
            let body: JSONValue = [
                "user": .string(user), "type": "payment", "message": "Pay?", "callback_uri": .string(registered),
            ]
            expectRefusal(
                try await rival.call(.POST, "/v1/challenges", body), 422, "callback_not_registered", at: "/callback_uri"
            )
            _ = try await scene.ask(["callback_uri": .string(registered)])
        }
    }

    @Test("A user, type or device that is not there is 404")
    func missing() async throws {
        try await Scene.with { scene in
            let other = try await scene.shop.makeUser("customer-2")
            let others = try await TestPhone.enrolled(for: other, by: scene.shop, at: scene.server)
            let own = JSONValue.string("\(scene.phone.enrollment)")
            let notThere: [JSONValue] = [
                ["enr_01m7yfdvpt5prmr79m8dcgymep"], [.string("\(others.enrollment)")],
                [own, .string("\(others.enrollment)")],
            ]
            let table =
                [
                    Wrong("user", "usr_01m7yfdvpt5prmr79m8dcgymep", missing: "user_not_found"),
                    Wrong("user", "external_id:nobody", missing: "user_not_found"),
                    Wrong("user", "external_id:Customer-1", missing: "user_not_found"),
                    Wrong("type", "unknown", missing: "type_not_found"),
                ] + notThere.map { Wrong("enrollments", $0, "enrollment_not_found", status: 404) }
            try await expectRefused(table, by: scene.shop, in: scene)
        }
    }

    @Test("A user without an active device is 409 no_enrollment, before a first device and after the last")
    func noDevice() async throws {
        try await Scene.with { scene in
            let body: JSONValue = ["user": "external_id:customer-2", "type": "payment", "message": "Pay?"]
            _ = try await scene.shop.makeUser("customer-2")
            let before = try await scene.snapshot()
            expectRefusal(try await scene.shop.call(.POST, "/v1/challenges", body), 409, "no_enrollment")
            #expect(try await scene.snapshot() == before)
            let device = "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)"
            #expect(try await scene.shop.call(.DELETE, device).status == 204)
            let events = try await scene.administrator.auditEvents()
            let ask: JSONValue = ["user": .string(scene.user), "type": "payment", "message": "Pay?"]
            expectRefusal(try await scene.shop.call(.POST, "/v1/challenges", ask), 409, "no_enrollment")
            var named = ask.object ?? JSONObject()
            named["enrollments"] = [.string("\(scene.phone.enrollment)")]
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", .object(named)), 404, "enrollment_not_found",
                at: "/enrollments")
            #expect(try await scene.administrator.auditEvents() == events)
        }
    }
}
