import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("A ticket enrolls one device, once")
struct DeviceEnrollingTests {
    private static let path = "/v1/enrollments"

    /// A phone that holds a fresh ticket of a new user.
    private static func invited(_ scene: DeviceScene) async throws -> (TestPhone, user: String) {
        let user = try await scene.shop.makeUser()
        return (try await TestPhone(invitation: try await scene.shop.makeTicket(for: user), server: scene.server), user)
    }

    private static func devices(of user: String, _ scene: DeviceScene) async throws -> [JSONValue] {
        try #require(
            try await scene.shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]?.array)
    }

    /// The request of a phone with some members replaced.
    private static func request(of phone: TestPhone, _ members: JSONObject) throws -> JSONValue {
        var object = try #require(try phone.enrollmentRequest.object)
        for member in members.members { object[member.name] = member.value }
        return .object(object)
    }

    @Test("A phone is enrolled, and gets the server's certificate and keys")
    func enrolls() async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            let reply = try await phone.enroll()
            #expect(reply.status == 201, "\(reply)")
            let read = try EnrollmentReply(reply.json)
            #expect(read.enrollment == phone.enrollment)
            #expect("\(read.user)" == user)
            #expect(read.serverCertificate.fingerprint == phone.invitation.fingerprint)
            #expect(reply.json["push_keys"] == (try await scene.server.send(.GET, "/v1/push-keys").json))
            let devices = try await Self.devices(of: user, scene)
            #expect(devices.count == 1)
            #expect(devices[0]["fingerprint"] == .string("\(phone.certificate.fingerprint)"))
            #expect(devices[0]["device"]?["name"] == "Test phone")
        }
    }

    @Test("The reply says what its client has set: the rules for PINs, how many devices, which authenticators")
    func policies() async throws {
        try await DeviceScene.with { scene in
            let hook: JSONValue = ["name": "phrase", "hook": "http://127.0.0.1:9/hook"]
            let bank = try await scene.server.makeClient(
                "Bank",
                [
                    "pin_policy": ["min_length": 7, "attempts": 4, "at_limit": "remove"],
                    "device_limit": ["max": 3], "authenticators": [hook],
                ])
            let ticket = try await bank.makeTicket(for: try await bank.makeUser())
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            let policies = try #require(try await phone.enroll().success()["policies"])
            #expect(policies["number_length"] == 6)
            #expect(policies["pin"]?["min_length"] == 7)
            let clients = try await scene.server.administrator.call(.GET, "/v1/admin/clients").success()["clients"]?
                .array
            let client = clients?.first { $0["client_id"]?.string == bank.clientID }
            #expect(policies["pin"] == client?["pin_policy"])
            #expect(policies["pin"]?["attempts"] == 4 && policies["pin"]?["at_limit"] == "remove")
            #expect(policies["device_limit"] == ["max": 3, "at_limit": "refuse"])
            #expect(policies["authenticators"] == ["phrase"])
        }
    }

    @Test("The same request again gets the same reply, and enrolls nothing more")
    func repeated() async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            let first = try await phone.enroll()
            #expect(first.status == 201)
            // Also when the ticket has expired meanwhile: it was in time when it was used.
            scene.server.clock.advance(seconds: 3600)
            let second = try await phone.enroll()
            #expect(second.status == 201)
            #expect(second.body == first.body)
            #expect(try await Self.devices(of: user, scene).count == 1)
        }
    }

    @Test("The same request ten times at once enrolls one device")
    func concurrentRepeats() async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<10 { group.addTask { try await phone.enroll() } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.map(\.refusal) == Array(repeating: Refusal(201, ""), count: 10))
            #expect(Set(replies.map(\.body)).count == 1, "\(replies)")
            #expect(try await Self.devices(of: user, scene).count == 1)
            let made = try await scene.events("enrollment.created").filter { $0["user"] == .string(user) }
            #expect(made.count == 1)
        }
    }

    @Test("Of two phones with one ticket, one is enrolled")
    func race() async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            let ticket = try await scene.shop.makeTicket(for: user)
            let phones = [
                try await TestPhone(invitation: ticket, server: scene.server),
                try await TestPhone(invitation: ticket, server: scene.server),
            ]
            async let first = phones[0].enroll()
            async let second = phones[1].enroll()
            let refusals = [try await first.refusal, try await second.refusal].sorted { $0.status < $1.status }
            #expect(refusals == [Refusal(201, ""), Refusal(403, "ticket_used")])
            #expect(try await Self.devices(of: user, scene).count == 1)
        }
    }

    @Test("An unknown ticket is refused", arguments: ["ctt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "", "x"])
    func unknownTicket(_ ticket: String) async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            let request = try Self.request(of: phone, ["ticket": .string(ticket)])
            let reply = try await phone.send(.POST, Self.path, request, keyID: "\(phone.certificate.fingerprint)")
            #expect(reply.refusal == Refusal(403, "ticket_invalid"))
            #expect(try await Self.devices(of: user, scene).isEmpty)
        }
    }

    @Test("The ticket of another server is refused")
    func ticketOfAnotherServer() async throws {
        try await DeviceScene.with { home in
            let (phone, _) = try await Self.invited(home)
            try await DeviceScene.with { abroad in
                let stray = try await TestPhone(invitation: phone.invitation.text, server: abroad.server)
                #expect(try await stray.enroll().refusal == Refusal(403, "ticket_invalid"))
            }
            #expect(try await phone.enroll().status == 201)
        }
    }

    @Test("A used ticket is refused to another phone")
    func usedTicket() async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            _ = try await phone.enroll().success()
            let other = try await TestPhone(invitation: phone.invitation.text, server: scene.server)
            #expect(try await other.enroll().refusal == Refusal(403, "ticket_used"))
            let devices = try await Self.devices(of: user, scene)
            #expect(devices.map { $0["fingerprint"] } == [.string("\(phone.certificate.fingerprint)")])
        }
    }

    @Test("A ticket works for ten minutes", arguments: [(540, 201, ""), (600, 403, "ticket_expired")])
    func expiredTicket(_ seconds: Int64, _ status: Int, _ code: String) async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            scene.server.clock.advance(seconds: seconds)
            #expect(try await phone.enroll().refusal == Refusal(status, code))
            #expect(try await Self.devices(of: user, scene).count == (status == 201 ? 1 : 0))
        }
    }

    @Test("A second device waits for the first one, which is asked about it")
    func secondDevice() async throws {
        try await TestServer.with { server in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser()
            let first = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let second = try await TestPhone(invitation: try await shop.makeTicket(for: user), server: server)
            let made = try await second.enroll().success()
            let number = try #require(made["approval"]?["number"]?.string.flatMap { EntryNumber($0) })
            #expect(try await second.enroll().success()["approval"] == made["approval"], "the reply may be lost")
            let waiting = try await second.send(.GET, "/v1/enrollments/self").success()
            #expect(waiting["state"] == "waiting" && waiting["waiting_until"] == made["approval"]?["expires_at"])
            let id = try #require(waiting["approval"]?.string)
            // The client sees it among its own, without the number.
            let seen = try await shop.call(.GET, "/v1/challenges/\(id)").success()
            #expect(seen["type"] == "new-device" && seen["state"] == "pending" && seen["number"] == nil)
            let asked = try await shop.ask(user, ["type": "confirm"])
            #expect(asked["enrollments"] == [.string("\(first.enrollment)")], "only the one that can answer is asked")
            let shown = try await shop.call(.POST, "/v1/challenges", ["type": "qr", "message": "x"]).success()
            let code = try #require(shown["code"]?["qr"]?.string.flatMap { ChallengeCode($0) }).claim
            expectRefusal(try await second.send(.POST, "/v1/challenges/claim", code), 409, "enrollment_waiting")
            let body = try await first.open(id)
            #expect(body.numberEntry == 6 && body.question.type == .newDevice && body.methods == [.confirm])
            let approval = first.receipt(of: body.question, .approved(.confirm, number: number))
            _ = try await first.answer(id, message: try await first.seal(approval.text)).success()
            #expect(try await second.send(.GET, "/v1/enrollments/self").success()["state"] == "active")
            #expect(try await second.send(.POST, "/v1/challenges/claim", code).status == 204)
            // The answer has a receipt, as any other: what was added stands in it, signed by the device that added it.
            let receipt = try await shop.call(.GET, "/v1/challenges/\(id)/receipt")
            let text = String(decoding: receipt.body, as: UTF8.self)
            #expect(text.contains("\ndetail: Fingerprint = \(second.certificate.fingerprint)\n"))
        }
    }

    @Test("A user whom the client blocks enrolls nothing until it ends the block")
    func blocked() async throws {
        try await DeviceScene.with { scene in
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            let path = "/v1/users/\(scene.user)"
            let changed = try await scene.shop.call(.PATCH, path, ["enrollment_blocked": true]).success()
            #expect(changed["enrollment_blocked"] == true && changed["external_id"] == "customer-1")
            #expect(try await scene.shop.call(.GET, path).success() == changed)
            expectRefusal(
                try await scene.shop.call(.POST, "\(path)/enrollment-tickets", [:]), 403, "enrollment_blocked")
            expectRefusal(try await phone.enroll(), 403, "enrollment_blocked")
            #expect(try await scene.phone.send(.GET, "/v1/enrollments/self").status == 200, "what is there stays")
            let ended = try await scene.shop.call(.PATCH, path, ["enrollment_blocked": false]).success()
            #expect(ended["enrollment_blocked"] == nil)
            #expect(try await phone.enroll().status == 201)
        }
    }

    @Test("The server alone asks by the types new-device and own-sign-in")
    func reserved() async throws {
        try await TestServer.with { server in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser()
            _ = try await TestPhone.enrolled(for: user, by: shop, at: server)
            for type in ["new-device", "own-sign-in"] {
                let reply = try await server.administrator.call(.PUT, "/v1/admin/types/\(type)", [:])
                expectRefusal(reply, 422, "invalid_member", at: "/name")
                let ask: JSONValue = ["user": .string(user), "type": .string(type), "message": "x"]
                expectRefusal(try await shop.call(.POST, "/v1/challenges", ask), 404, "type_not_found")
            }
        }
    }

    @Test("A waiver is told in the audit")
    func waiver() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let event = try await scene.events("enrollment.created").last
            #expect(event?["enrollment"] == .string("\(second.enrollment)"))
            #expect(event?["detail"]?["waiver"] == true)
            #expect(event?["detail"]?["fingerprint"] == .string("\(second.certificate.fingerprint)"))
        }
    }

    /// What is wrong with the signature of an enrollment request.
    enum SignatureMistake: CaseIterable, Sendable {
        case unsigned, keyIDOfEnrollment, keyIDOfOtherCertificate, keyOfOtherPhone, stale, alteredBody
    }

    @Test("The certificate's own authentication subkey must sign", arguments: SignatureMistake.allCases)
    func signature(_ mistake: SignatureMistake) async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            let (request, own) = (try phone.enrollmentRequest, "\(phone.certificate.fingerprint)")
            let reply: Reply
            var expected = Refusal(401, "signature_invalid")
            switch mistake {
            case .unsigned:
                reply = try await scene.server.send(.POST, Self.path, body: request.encoded)
                expected = Refusal(401, "signature_missing")
            case .keyIDOfEnrollment: reply = try await phone.send(.POST, Self.path, request)
            case .keyIDOfOtherCertificate:
                let other = "\(scene.phone.certificate.fingerprint)"
                reply = try await phone.send(.POST, Self.path, request, keyID: other)
            case .keyOfOtherPhone: reply = try await scene.phone.send(.POST, Self.path, request, keyID: own)
            case .stale:
                reply = try await phone.send(.POST, Self.path, request, keyID: own, createdIn: -120)
                expected = Refusal(401, "clock_skew")
            case .alteredBody:
                let altered = try Self.request(of: phone, ["versions": [1, 2]]).encoded
                reply = try await phone.send(.POST, Self.path, request, keyID: own, sentBody: altered)
            }
            #expect(reply.refusal == expected, "\(reply)")
            #expect(try await Self.devices(of: user, scene).isEmpty)
            #expect(try await phone.enroll().status == 201)
        }
    }

    @Test(
        "A request of a wrong shape is refused by name",
        arguments: [
            ("ticket", nil, "missing_member", "/ticket"), ("ticket", 1, "invalid_member", "/ticket"),
            ("certificate", nil, "missing_member", "/certificate"),
            ("certificate", "not base64!", "invalid_member", "/certificate"),
            ("device", nil, "missing_member", "/device"), ("device", "phone", "invalid_member", "/device"),
            ("device", ["storage": "software"], "missing_member", "/device/name"),
            ("device", ["name": "a\u{202E}b", "storage": "software"], "invalid_member", "/device/name"),
            ("device", ["name": "a\nb", "storage": "software"], "invalid_member", "/device/name"),
            ("device", ["name": "Phone", "storage": "cloud"], "invalid_member", "/device/storage"),
            ("device", ["name": "Phone", "storage": "software", "os": "x"], "unknown_member", "/device/os"),
            ("versions", nil, "missing_member", "/versions"), ("versions", [], "invalid_member", "/versions"),
            ("versions", [2], "invalid_member", "/versions"), ("versions", ["1"], "invalid_member", "/versions"),
            ("push", true, "invalid_member", "/push"),
        ] as [(String, JSONValue?, String, String)])
    func shape(_ name: String, _ value: JSONValue?, _ code: String, _ pointer: String) async throws {
        try await DeviceScene.with { scene in
            let (phone, user) = try await Self.invited(scene)
            var object = try #require(try phone.enrollmentRequest.object)
            object[name] = value
            let reply = try await phone.send(
                .POST, Self.path, .object(object), keyID: "\(phone.certificate.fingerprint)")
            #expect(reply.refusal == Refusal(422, code), "\(reply)")
            #expect(reply.json["pointer"] == .string(pointer))
            #expect(try await Self.devices(of: user, scene).isEmpty)
            #expect(try await phone.enroll().status == 201)
        }
    }
}
