import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("A removed device is told so under the server's signature")
struct DeviceRemovalTests {
    enum Way: String, CaseIterable, Sendable {
        case byDevice, byClient, forSecurity, byUnlinkingTheUser

        var reason: RemovalReason {
            switch self {
            case .byDevice: .device
            case .byClient: .client
            case .forSecurity: .security
            case .byUnlinkingTheUser: .user
            }
        }
    }

    private static func remove(_ way: Way, in scene: DeviceScene) async throws {
        let reply =
            switch way {
            case .byDevice: try await scene.phone.send(.DELETE, "/v1/enrollments/self")
            case .byClient:
                try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)")
            case .forSecurity:
                try await scene.shop.call(
                    .DELETE,
                    "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)?reason=removed_for_security")
            case .byUnlinkingTheUser: try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)")
            }
        #expect(reply.status == 204, "\(reply)")
        #expect(reply.body.isEmpty)
    }

    @Test(
        "A reason that is not a client's to give is refused, and removes nothing",
        arguments: ["wrong_pin", "user_deleted", "denied", "because", ""])
    func foreignReason(_ reason: String) async throws {
        try await DeviceScene.with { scene in
            let path = "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)?reason=\(reason)"
            let refused = try await scene.shop.call(.DELETE, path)
            expectRefusal(refused, 400, "invalid_parameter")
            #expect(try await scene.phone.send(.GET, "/v1/enrollments/self").status == 200)
        }
    }

    @Test("The notice verifies, and says who, since when and why", arguments: Way.allCases)
    func notice(_ way: Way) async throws {
        try await DeviceScene.with { scene in
            let phone = scene.phone
            let before = scene.server.clock.now.wholeSeconds
            try await Self.remove(way, in: scene)
            let reply = try await phone.send(.GET, "/v1/enrollments/self")
            #expect(reply.refusal == Refusal(403, "device_deregistered"))
            let text = try #require(reply.json["notice"]?.string)
            let now = scene.server.clock.now
            // As OpenPGP alone reads it.
            let message = try CleartextMessage(parsing: text)
            let signer = try message.verify(by: phone.serverCertificate, now: now.unixSeconds)
            #expect(phone.serverCertificate.subkeys.contains { $0.fingerprint == signer.fingerprint })
            // As a device reads it.
            func read(_ text: String, issuer: Issuer? = nil, enrollment: EnrollmentID? = nil) -> RemovalNotice? {
                RemovalNotice(
                    verifying: text, issuer: issuer ?? scene.server.issuer, enrollment: enrollment ?? phone.enrollment,
                    certificate: phone.serverCertificate, now: now.unixSeconds)
            }
            let notice = try #require(read(text))
            #expect(notice.reason == way.reason)
            #expect(notice.removedAt >= before && notice.removedAt <= now)
            // Not for another device, issuer or reason.
            #expect(read(text, enrollment: EnrollmentID("enr_00000000000000000000000000")) == nil)
            #expect(read(text, issuer: Issuer("https://login.example.com")) == nil)
            let other = way == .byDevice ? RemovalReason.client : .device
            #expect(read(text.replacing(way.reason.rawValue, with: other.rawValue)) == nil)
        }
    }

    @Test("Every route refuses a removed device, and nothing is done", arguments: Way.allCases)
    func everyRoute(_ way: Way) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try await scene.approval(of: asked)
            try await Self.remove(way, in: scene)
            let deregistered = Refusal(403, "device_deregistered")
            #expect(try await scene.phone.send(.DELETE, "/v1/enrollments/self").refusal == deregistered)
            for path in ["/v1/enrollments/self", "/v1/enrollments/self/challenges?wait=1", "\(asked.path)/message"] {
                #expect(try await scene.phone.send(.GET, path).refusal == deregistered)
            }
            #expect(try await scene.phone.answer(asked.id, message: message).refusal == deregistered)
            #expect(try await scene.events("enrollment.removed").count == 1)
            #expect(try await scene.events("challenge.approved").isEmpty)
            guard way != .byUnlinkingTheUser else { return }
            // Nobody is left who could answer.
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "failed", reason: "device_removed"))
        }
    }

    @Test("A challenge that another device can answer outlives the removal")
    func otherDeviceAnswers() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let asked = try await scene.ask()
            try await Self.remove(.byClient, in: scene)
            #expect(try await scene.status(of: asked).state == "pending")
            let reply = try await second.answer(asked.id, .approved(.confirm, number: asked.number))
            #expect(reply.json["state"] == "approved", "\(reply)")
        }
    }

    @Test("Who cannot sign for a removed device gets no notice")
    func strangerGetsNoNotice() async throws {
        try await DeviceScene.with { scene in
            let stranger = try await scene.strangersPhone()
            try await Self.remove(.byDevice, in: scene)
            let reply = try await stranger.send(.GET, "/v1/enrollments/self", keyID: "\(scene.phone.enrollment)")
            #expect(reply.refusal == Refusal(401, "signature_invalid"))
            #expect(reply.json["notice"] == nil)
        }
    }

    @Test("A removal ends the device's wait at once")
    func endsWait() async throws {
        try await DeviceScene.with { scene in
            async let waiting = scene.phone.send(.GET, "/v1/enrollments/self/challenges?wait=60")
            let start = ContinuousClock.now
            try await Self.remove(.byClient, in: scene)
            #expect(try await waiting.refusal == Refusal(403, "device_deregistered"))
            #expect(start.duration(to: .now) < .seconds(20))
        }
    }

    @Test("A removed device cannot enroll again with its spent ticket or its keys")
    func noReturn() async throws {
        try await DeviceScene.with { scene in
            try await Self.remove(.byClient, in: scene)
            #expect(try await scene.phone.enroll().refusal == Refusal(403, "ticket_used"))
            #expect(
                try await scene.phone.send(.GET, "/v1/enrollments/self").refusal == Refusal(403, "device_deregistered"))
            let nobody = try await scene.shop.call(
                .POST, "/v1/challenges",
                ["user": .string(scene.user), "type": "payment", "message": "Still there?"])
            #expect(nobody.refusal == Refusal(409, "no_enrollment"))
        }
    }

    @Test("Another client's word removes nothing")
    func otherClient() async throws {
        try await DeviceScene.with { scene in
            let other = try await scene.server.makeClient("Other Shop")
            let reply = try await other.call(
                .DELETE, "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)")
            #expect(reply.status == 404, "\(reply)")
            #expect(try await other.call(.DELETE, "/v1/users/\(scene.user)").refusal == Refusal(404, "user_not_found"))
            try await scene.expectUntouched(try await scene.ask())
        }
    }
}
