import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("A device says where it is reached by push, and the client sees how far a push has come")
struct DevicePushTests {
    private static let own = "/v1/enrollments/self"
    private static let token = String(repeating: "0badc0de", count: 8)
    private static let registration: JSONValue = [
        "service": "apns", "app": "com.example.bank", "environment": "development", "token": .string(token),
    ]

    @Test("It registers, when it enrolls or later; the token is told to nobody")
    func registers() async throws {
        try await DeviceScene.with { scene in
            scene.server.watch.plant(Self.token, "a push token")
            let reply = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            #expect(reply["push"]?["service"] == "apns")
            #expect(reply["push"]?["app"] == "com.example.bank")
            #expect(reply["push"]?["environment"] == "development")
            #expect(reply["push"]?["token"] == nil)
            #expect(try await scene.phone.send(.GET, Self.own).success() == reply)
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            #expect(list["enrollments"]?.array?.first == reply)
            // At once while enrolling.
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            let other = try await TestPhone(invitation: ticket, server: scene.server)
            var request = try other.enrollmentRequest.object ?? [:]
            request["push"] = ["service": "fcm", "app": "com.example.bank", "token": "dQw4:APA91b"]
            _ = try await other.send(
                .POST, "/v1/enrollments", .object(request), keyID: "\(other.certificate.fingerprint)"
            ).success()
            #expect(try await other.send(.GET, Self.own).success()["push"]?["service"] == "fcm")
            // And no more.
            let removed = try await scene.phone.send(.PATCH, Self.own, ["push": .null]).success()
            #expect(removed["push"] == nil)
            #expect(removed["device"] == reply["device"])
        }
    }

    @Test("A push token is one enrollment's of a user; another user of the same device has it, too")
    func tokenInUse() async throws {
        try await DeviceScene.with { scene in
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            let second = try await scene.anotherPhone()
            let before = try await second.send(.GET, Self.own).success()
            let refused = try await second.send(
                .PATCH, Self.own, ["push": Self.registration, "device": ["name": "New"]])
            #expect(refused.refusal == Refusal(409, "push_token_in_use"))
            #expect(try await second.send(.GET, Self.own).success() == before, "nothing half changed")
            // Enrolling with it is refused, too, and spends no ticket.
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            let third = try await TestPhone(invitation: ticket, server: scene.server)
            var request = try third.enrollmentRequest.object ?? [:]
            request["push"] = Self.registration
            let keyID = "\(third.certificate.fingerprint)"
            let enrolling = try await third.send(.POST, "/v1/enrollments", .object(request), keyID: keyID)
            #expect(enrolling.refusal == Refusal(409, "push_token_in_use"))
            #expect(try await third.enroll().status == 201)
            // Of another app, and of another user, it is another matter.
            var other = Self.registration.object ?? [:]
            other["app"] = "com.example.shop"
            _ = try await second.send(.PATCH, Self.own, ["push": .object(other)]).success()
            let user = try await scene.shop.makeUser("customer-2")
            let stranger = try await TestPhone.enrolled(for: user, by: scene.shop, at: scene.server)
            _ = try await stranger.send(.PATCH, Self.own, ["push": Self.registration]).success()
            // When the first gives it up it is free.
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": .null]).success()
            _ = try await second.send(.PATCH, Self.own, ["push": Self.registration]).success()
        }
    }

    @Test("On the server's own machine it registers while both are developed, and no longer")
    func local() async throws {
        let push: JSONValue = [
            "service": "local", "app": "countersign", "token": .string("9:\(String(repeating: "0badc0de", count: 4))"),
        ]
        try await DeviceScene.with { scene in
            let reply = try await scene.phone.send(.PATCH, Self.own, ["push": push]).success()
            #expect(reply["push"]?["service"] == "local")
        }
        try await DeviceScene.with(issuer: Issuer("https://login.example.com")) { scene in
            let refused = try await scene.phone.send(.PATCH, Self.own, ["push": push])
            expectRefusal(refused, 422, "invalid_member", at: "/push/service")
        }
    }

    @Test("It is renamed and updated, and everything else stays")
    func describes() async throws {
        try await DeviceScene.with { scene in
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            let device: JSONValue = ["name": "Ada's phone", "system": "Linux 7"]
            let reply = try await scene.phone.send(.PATCH, Self.own, ["device": device]).success()
            #expect(reply["device"] == ["name": "Ada's phone", "system": "Linux 7", "storage": "software"])
            #expect(reply["versions"] == [1])
            let versions = try await scene.phone.send(.PATCH, Self.own, ["versions": [1, 2]]).success()
            #expect(versions["versions"] == [1, 2] && versions["device"] == reply["device"])
            #expect(try await scene.phone.send(.GET, Self.own).success()["versions"] == [1, 2])
            #expect(reply["push"]?["service"] == "apns")
        }
    }

    @Test("A device in software does not promote itself: how it keeps its keys is said once, when it enrolls")
    func storage() async throws {
        try await DeviceScene.with { scene in
            let strong: JSONValue = ["methods": ["pin"], "aal2": true]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/strong", strong).success()
            let before = try await scene.phone.send(.GET, Self.own).success()
            #expect(before["device"]?["storage"] == "software")
            for body in [
                ["device": ["storage": "enclave"]], ["device": ["name": "Test phone", "storage": "enclave"]],
                ["device": ["name": "Test phone", "storage": "software"]],
            ] as [JSONValue] {
                let refused = try await scene.phone.send(.PATCH, Self.own, body)
                let isNamed = body["device"]?["name"] != nil
                expectRefusal(
                    refused, 422, isNamed ? "unknown_member" : "missing_member",
                    at: isNamed ? "/device/storage" : "/device/name")
            }
            #expect(try await scene.phone.send(.PATCH, Self.own, ["device": ["name": "Other"]]).status == 200)
            #expect(try await scene.phone.send(.GET, Self.own).success()["device"]?["storage"] == "software")
            let asked = try await scene.shop.call(
                .POST, "/v1/challenges", ["user": .string(scene.user), "type": "strong", "message": "x"])
            expectRefusal(asked, 409, "no_enrollment")
        }
    }

    @Test(
        "What it cannot mean is refused, and nothing changes",
        arguments: [
            (["push": ["service": "apns"]], "missing_member", "/push/app"),
            (["push": ["service": "sms", "app": "a", "token": "b"]], "invalid_member", "/push/service"),
            (["push": "apns"], "invalid_member", "/push"),
            (["device": ["name": "A\u{202E}"]], "invalid_member", "/device/name"),
            (["device": ["name": "A", "storage": "software"]], "unknown_member", "/device/storage"),
            (["versions": [2]], "invalid_member", "/versions"), (["versions": 1], "invalid_member", "/versions"),
            (["versions": ["1"]], "invalid_member", "/versions"),
            (["versions": .array(Array(repeating: 1, count: 17))], "invalid_member", "/versions"),
            (["token": "abc"], "unknown_member", "/token"),
        ] as [(JSONValue, String, String)])
    func refuses(_ body: JSONValue, _ code: String, _ pointer: String) async throws {
        try await DeviceScene.with { scene in
            let before = try await scene.phone.send(.GET, Self.own).success()
            expectRefusal(try await scene.phone.send(.PATCH, Self.own, body), 422, code, at: pointer)
            #expect(try await scene.phone.send(.GET, Self.own).success() == before)
            let stranger = try await scene.phone.send(
                .PATCH, Self.own, ["push": Self.registration], keyID: "enr_00000000000000000000000000")
            #expect(stranger.refusal == Refusal(401, "unknown_enrollment"))
        }
    }

    @Test("A push that was given up is in the outbox, is sent again, and is announced anew as often as the type allows")
    func outbox() async throws {
        try await DeviceScene.with { scene in
            let policy: JSONValue = ["max_resends": 1]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/payment", policy).success()
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            let asked = try await scene.shop.ask(scene.user)
            let path = "/v1/challenges/\(asked["id"]?.string ?? "")"
            let administrator = scene.server.administrator
            func dead() async throws -> [JSONValue] {
                try await administrator.call(.GET, "/v1/admin/outbox").success()["messages"]?.array ?? []
            }
            while try await dead().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            let message = try #require(try await dead().first)
            #expect(message["kind"] == "push" && message["attempts"] == 1)
            #expect(message["last_error"] == "APNs is not set up for com.example.bank")
            let id = try #require(message["id"]?.string)
            #expect(try await administrator.call(.POST, "/v1/admin/outbox/\(id)/retry").status == 204)
            while try await dead().first?["attempts"] != 2 { try await Task.sleep(for: .milliseconds(20)) }
            let waiting = try await administrator.call(.GET, "/v1/admin/outbox?state=waiting").success()
            #expect(waiting["messages"] == [])
            let page = try await administrator.call(.GET, "/v1/admin/outbox?cursor=\(id)").success()
            #expect(page == ["messages": [], "cursor": .string(id)])
            // For operators alone.
            expectRefusal(try await scene.shop.call(.GET, "/v1/admin/outbox"), 403, "right_missing")
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/admin/outbox/\(id)/retry"), 403, "right_missing")
            for query in ["state=gone", "cursor=1"] {
                expectRefusal(
                    try await administrator.call(.GET, "/v1/admin/outbox?\(query)"), 400, "invalid_parameter")
            }
            let unknown = "evt_00000000000000000000000000"
            for id in [unknown, "evt_1"] {
                expectRefusal(
                    try await administrator.call(.POST, "/v1/admin/outbox/\(id)/retry"), 404, "message_not_found")
            }
            let resent = try await scene.shop.call(.POST, "\(path)/resend").success()
            #expect(resent["id"] == asked["id"] && resent["deliveries"]?.array?.count == 1)
            expectRefusal(try await scene.shop.call(.POST, "\(path)/resend"), 429, "too_many_resends")
            let other = try await scene.server.makeClient("Other")
            expectRefusal(try await other.call(.POST, "\(path)/resend"), 404, "challenge_not_found")
            _ = try await scene.shop.call(.DELETE, path).success()
            expectRefusal(try await scene.shop.call(.POST, "\(path)/resend"), 409, "already_ended")
            scene.server.clock.advance(seconds: 600)
            expectRefusal(try await administrator.call(.POST, "/v1/admin/outbox/\(id)/retry"), 409, "message_over")
        }
    }

    @Test("A question is asked though no push can be sent, and says so; without a push it says when it was fetched")
    func deliveries() async throws {
        try await DeviceScene.with { scene in
            let quiet = try await scene.shop.ask(scene.user)
            let path = "/v1/challenges/\(quiet["id"]?.string ?? "")"
            let device: JSONValue = .string("\(scene.phone.enrollment)")
            #expect(try await scene.shop.call(.GET, path).success()["deliveries"] == [["enrollment": device]])
            _ = try await scene.phone.open(quiet["id"]?.string ?? "")
            let fetched = try await scene.shop.call(.GET, path).success()["deliveries"]?.array?.first
            #expect(fetched?["fetched_at"]?.string.flatMap { Timestamp($0) } != nil)
            #expect(fetched?["push"] == nil)
            _ = try await scene.phone.send(.PATCH, Self.own, ["push": Self.registration]).success()
            let announced = try await scene.shop.ask(scene.user)
            let other = "/v1/challenges/\(announced["id"]?.string ?? "")"
            // No APNs is set up here.
            var push: JSONValue?
            while push?["state"] != "failed" {
                push = try await scene.shop.call(.GET, other).success()["deliveries"]?.array?.first?["push"]
            }
            #expect(push?["reason"] == "APNs is not set up for com.example.bank")
            #expect(try await scene.phone.answer(announced["id"]?.string ?? "", .denied).status == 200)
        }
    }
}
