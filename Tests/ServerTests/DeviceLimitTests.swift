import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("How many devices a user may have through a client")
struct DeviceLimitTests {
    private static func with(
        _ limit: JSONValue, _ body: @escaping @Sendable (TestServer, Caller, String) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let shop = try await server.makeClient(
                "ACME Shop", ["waive_enrollment_approval": true, "device_limit": limit])
            try await body(server, shop, try await shop.makeUser("customer-1"))
        }
    }

    private static func states(_ shop: Caller, _ user: String) async throws -> [String] {
        let list = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]?.array ?? []
        return list.map { "\($0["state"]?.string ?? "") \($0["reason"]?.string ?? "-")" }
    }

    @Test("One device too many is too_many_devices, and its ticket is good once there is room")
    func refused() async throws {
        try await Self.with(["max": 2]) { server, shop, user in
            var phones: [TestPhone] = []
            for _ in 0..<2 { phones.append(try await TestPhone.enrolled(for: user, by: shop, at: server)) }
            let third = try await TestPhone(invitation: try await shop.makeTicket(for: user), server: server)
            #expect(try await third.enroll().refusal == Refusal(409, "too_many_devices"))
            #expect(try await Self.states(shop, user) == ["active -", "active -"])
            // A repeat of an enrollment that is made is no further one.
            #expect(try await phones[1].enroll().status == 201)
            _ = try await phones[0].send(.DELETE, "/v1/enrollments/self")
            #expect(try await third.enroll().status == 201)
            #expect(try await Self.states(shop, user) == ["removed removed_by_device", "active -", "active -"])
        }
    }

    @Test("A device that takes the place of the oldest ends it, and the oldest is told under the server's signature")
    func replaced() async throws {
        try await Self.with(["max": 1, "at_limit": "replace"]) { server, shop, user in
            let first = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let asked = try await shop.ask(user, ["type": "confirm"])
            let second = try await TestPhone.enrolled(for: user, by: shop, at: server)
            #expect(try await Self.states(shop, user) == ["removed replaced", "active -"])
            let told = try await first.send(.GET, "/v1/enrollments/self")
            #expect(told.refusal == Refusal(403, "device_deregistered"))
            let notice = try #require(told.json["notice"]?.string)
            let verified = RemovalNotice(
                verifying: notice, issuer: server.issuer, enrollment: first.enrollment,
                certificate: first.serverCertificate, now: server.clock.now.unixSeconds)
            #expect(verified?.reason == .replaced)
            #expect(try await second.send(.GET, "/v1/enrollments/self").status == 200)
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))"
            #expect(try await shop.call(.GET, path).success()["reason"] == "device_removed")
        }
    }

    @Test("Devices of another client do not count, and a user's other devices stay")
    func others() async throws {
        try await Self.with(["max": 1, "at_limit": "replace"]) { server, shop, user in
            let first = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let stranger = try await shop.makeUser("customer-2")
            _ = try await TestPhone.enrolled(for: stranger, by: shop, at: server)
            #expect(try await first.send(.GET, "/v1/enrollments/self").status == 200)
        }
    }

    @Test("The limit can be changed and lifted, and one that cannot be is refused where it stands")
    func changed() async throws {
        try await Self.with(["max": 1]) { server, shop, user in
            _ = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let path = "/v1/admin/clients/\(shop.clientID)"
            for (limit, pointer) in [
                (["max": 0], "/device_limit/max"), (["max": 101], "/device_limit/max"),
                (["max": 1, "at_limit": "lock"], "/device_limit/at_limit"),
            ] as [(JSONValue, String)] {
                let reply = try await server.administrator.call(.PATCH, path, ["device_limit": limit])
                #expect(reply.refusal == Refusal(422, "invalid_member") && reply.json["pointer"] == .string(pointer))
            }
            let set = try await server.administrator.call(.PATCH, path, ["device_limit": ["max": 3]]).success()
            #expect(set["device_limit"] == ["max": 3, "at_limit": "refuse"])
            let same = try await server.administrator.call(.PATCH, path, ["name": "ACME"]).success()
            #expect(same["device_limit"] == set["device_limit"])
            let lifted = try await server.administrator.call(.PATCH, path, ["device_limit": .null]).success()
            #expect(lifted["device_limit"] == nil)
            for _ in 0..<3 { _ = try await TestPhone.enrolled(for: user, by: shop, at: server) }
        }
    }
}
