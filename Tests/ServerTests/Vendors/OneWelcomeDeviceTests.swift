import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("OneWelcome: the devices of a user")
struct OneWelcomeDeviceTests {
    private static let path = "/oauth/api/v4/users/customer-1/devices"

    private static func isRemoved(_ phone: TestPhone) async throws -> Bool {
        try await phone.send(.GET, "/v1/enrollments/self").json["code"] == "device_deregistered"
    }

    /// A portal whose tickets waive the approval of further devices.
    private static func with(_ body: @escaping @Sendable (OneWelcomeScene) async throws -> Void) async throws {
        try await OneWelcomeScene.with(client: ["waive_enrollment_approval": true], body)
    }

    @Test("A device as documented, with what it is enrolled for")
    func list() async throws {
        try await Self.with { scene in
            let list = try await scene.call(.GET, Self.path).success()
            let device = try #require(list["devices"]?.array?.first?.object)
            #expect(list["devices"]?.array?.count == 1)
            #expect(
                device.members.map(\.name) == [
                    "id", "name", "application", "createdAt", "tokenTypes", "mobileAuthenticationEnabled",
                    "pushAuthenticationEnabled",
                ])
            #expect(device["id"] == .string(scene.device) && device["name"] == "Test phone")
            #expect(device["application"] == "ACME Shop" && device["tokenTypes"] == [])
            #expect(device["createdAt"]?.integer ?? 0 > 1_700_000_000_000)
            #expect(device["mobileAuthenticationEnabled"] == true && device["pushAuthenticationEnabled"] == false)
            _ = try await scene.phone.setPIN()
            let described: JSONValue = [
                "device": ["name": "Lisa's phone", "model": "Nexus 6P", "system": "Android 8.0.0"],
                "push": ["service": "fcm", "app": "com.example.shop", "token": "abc123"],
            ]
            let changed = try await scene.phone.send(.PATCH, "/v1/enrollments/self", described)
            #expect((200..<300).contains(changed.status), "\(changed)")
            let after = try await scene.call(.GET, Self.path).success()["devices"]?.array?.first
            #expect(after?["name"] == "Lisa's phone" && after?["model"] == "Nexus 6P")
            #expect(after?["platform"] == "android" && after?["osVersion"] == "8.0.0")
            #expect(after?["tokenTypes"] == ["DEFAULT"] && after?["pushAuthenticationEnabled"] == true)
        }
    }

    @Test("Nobody, and somebody without devices, are the same 404")
    func none() async throws {
        try await Self.with { scene in
            _ = try await scene.portal.makeUser("without-devices")
            for user in ["nobody", "without-devices", "two%0Alines"] {
                let reply = try await scene.call(.GET, "/oauth/api/v4/users/\(user)/devices")
                #expect(reply.status == 404 && reply.json == ["error": "No devices found"], "\(reply)")
            }
        }
    }

    @Test("A user whose name is another's id gets nothing of that one: neither list, nor deletion, nor question")
    func namedLikeAnother() async throws {
        try await Self.with { scene in
            let id = scene.scene.user
            let path = "/oauth/api/v4/users/\(id)/devices"
            // Until somebody has the name, it is the id.
            let before = try await scene.call(.GET, path).success()
            #expect(before["devices"]?.array?.first?["id"] == .string(scene.device))
            let other = try await scene.portal.makeUser(id)
            #expect(other != id)
            let list = try await scene.call(.GET, path)
            #expect(list.status == 404 && list.json == ["error": "No devices found"], "\(list)")
            for ending in ["", "/\(scene.device)"] {
                let reply = try await scene.call(.DELETE, path + ending)
                #expect(reply.status == 204, "\(reply)")
            }
            #expect(try await !Self.isRemoved(scene.phone))
            let asked = try await scene.post(
                "\(OneWelcomeScene.path)/user", OneWelcomeScene.changed(scene.push, [("user_id", id)]))
            expectNumber(asked, 404, 1001)
            let phone = try await TestPhone.enrolled(for: other, by: scene.portal, at: scene.server)
            let own = try await scene.call(.GET, path).success()
            #expect(own["devices"]?.array?.map { $0["id"] } == [.string("\(phone.enrollment)")])
        }
    }

    @Test("One is deleted, and withdrawn: 204 whatever there was, and another user's device stays")
    func one() async throws {
        try await Self.with { scene in
            let other = try await scene.portal.makeUser("customer-2")
            let stranger = try await TestPhone.enrolled(for: other, by: scene.portal, at: scene.server)
            for (method, ending) in [(HTTPMethod.DELETE, ""), (HTTPMethod.POST, "/disableMobileAuthentication")] {
                let phone = try await TestPhone.enrolled(for: scene.scene.user, by: scene.portal, at: scene.server)
                for id in ["\(stranger.enrollment)", "7A8A520D", "\(phone.enrollment)", "\(phone.enrollment)"] {
                    let reply = try await scene.call(method, "\(Self.path)/\(id)\(ending)")
                    #expect(reply.status == 204 && reply.body.isEmpty, "\(reply)")
                }
                #expect(try await Self.isRemoved(phone))
            }
            #expect(try await !Self.isRemoved(stranger))
            #expect(try await !Self.isRemoved(scene.phone))
            let events = try await scene.scene.administrator.auditEvents()
            let removed = events.filter { $0["kind"] == "enrollment.removed" }
            #expect(removed.map { $0["detail"]?["reason"] } == ["removed_by_client", "removed_by_client"])
        }
    }

    @Test("All are deleted, and some; of those that the user does not have the reply says so")
    func several() async throws {
        try await Self.with { scene in
            let other = try await scene.portal.makeUser("customer-2")
            let stranger = try await TestPhone.enrolled(for: other, by: scene.portal, at: scene.server)
            let second = try await TestPhone.enrolled(for: scene.scene.user, by: scene.portal, at: scene.server)
            func delete(_ ids: JSONValue) async throws -> Reply {
                try await scene.server.send(
                    .POST, Self.path,
                    headers: [("Authorization", scene.portal.authorization), ("Content-Type", "application/json")],
                    body: JSONValue.members(["delete": ids]).encoded, isContract: false)
            }
            let unknown = ["unknown_device_id", "\(stranger.enrollment)"]
            let partly = try await delete(.array((unknown + ["\(second.enrollment)"]).map(JSONValue.string)))
            #expect(partly.status == 500 && partly.json["code"] == "not_all_devices_deleted", "\(partly)")
            let details = partly.json["details"]?.array ?? []
            #expect(Set(details.compactMap { $0["id"]?.string }) == Set(unknown))
            #expect(details.allSatisfy { $0["status"]?["code"] == "device_not_deleted" })
            #expect(try await Self.isRemoved(second))
            for ids in [[], [7], "x", .null, .array(Array(repeating: "x", count: 101))] as [JSONValue] {
                let reply = try await delete(ids)
                #expect(reply.status == 400 && reply.json["code"] == "invalid_request", "\(reply)")
            }
            let third = try await TestPhone.enrolled(for: scene.scene.user, by: scene.portal, at: scene.server)
            let one: JSONValue = .string("\(third.enrollment)")
            #expect(try await delete([one, one]).status == 204)
            #expect(try await !Self.isRemoved(scene.phone))
            for _ in 0..<2 { #expect(try await scene.call(.DELETE, Self.path).status == 204) }
            #expect(try await Self.isRemoved(scene.phone))
            #expect(try await !Self.isRemoved(stranger))
            #expect(try await scene.call(.GET, Self.path).status == 404)
        }
    }
}
