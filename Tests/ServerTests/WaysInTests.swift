import CountersignServer
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

/// What somebody tries who holds an unlocked phone and the app's session, which asks for tickets and removals.
@Suite("No way round a PIN or a device by removing, enrolling and setting anew", .timeLimit(.minutes(15)))
struct WaysInTests {
    private static let wait: Int64 = 86_400

    /// A strict client, and a phone of its user with a PIN, or without, an hour after it was enrolled.
    private static func with(
        hasPIN: Bool = true, atLimit: String = "lock",
        _ body: @escaping @Sendable (TestServer, Caller, String, TestPhone, SigningKeyPair?) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data")) { server in
            let policy: JSONValue = [
                "max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "number_entry": false, "methods": ["pin"],
            ]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/payment", policy).success()
            let shop = try await server.makeClient(
                "ACME Shop", ["pin_policy": ["attempts": 3, "at_limit": .string(atLimit)]])
            let user = try await shop.makeUser("customer-1")
            let phone = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let key = try await hasPIN ? phone.setPIN() : nil
            server.clock.advance(seconds: 3600)
            try await body(server, shop, user, phone, key)
        }
    }

    /// Enrolls one more phone, sets a PIN on it, and expects that neither counts before the wait is over.
    private static func expectWait(
        _ server: TestServer, _ shop: Caller, _ user: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let thief = try await TestPhone(invitation: try await shop.makeTicket(for: user), server: server)
        let enrolled = try await thief.enroll()
        #expect(enrolled.status == 201, sourceLocation: sourceLocation)
        #expect(enrolled.json["approval"]?["expires_at"] != nil, sourceLocation: sourceLocation)
        #expect(enrolled.json["approval"]?["number"] == nil, "nobody can be asked", sourceLocation: sourceLocation)
        let key = try await thief.setPIN()
        let own = try await thief.send(.GET, "/v1/enrollments/self").success()
        #expect(own["state"] == "waiting", sourceLocation: sourceLocation)
        #expect(own["waiting"]?["pin"]?.string != nil, sourceLocation: sourceLocation)
        let asked = try await shop.call(
            .POST, "/v1/challenges", ["user": .string(user), "type": "payment", "message": "Pay?"])
        #expect(asked.refusal == Refusal(409, "no_enrollment"), sourceLocation: sourceLocation)
        // Everybody had the time to undo it.
        server.clock.advance(seconds: wait)
        let now = try await shop.call(
            .POST, "/v1/challenges", ["user": .string(user), "type": "payment", "message": "Pay?"]
        ).success()
        let id = try #require(now["id"]?.string)
        let question = try await thief.open(id).question
        let receipt = thief.receipt(of: question, .approved(.pin, number: nil))
        let reply = try await thief.answer(id, message: try await thief.seal(receipt.text, signedBy: key))
        #expect(reply.json["state"] == "approved", sourceLocation: sourceLocation)
    }

    @Test("A phone that removes itself opens no way for the next one")
    func removesItself() async throws {
        try await Self.with { server, shop, user, phone, _ in
            #expect(try await phone.send(.DELETE, "/v1/enrollments/self").status == 204)
            try await Self.expectWait(server, shop, user)
        }
    }

    @Test("Nor does one that wrong PINs removed")
    func wrongPINs() async throws {
        try await Self.with(atLimit: "remove") { server, shop, user, phone, _ in
            for left: Int64 in [2, 1, 0] {
                let reply = try await phone.change(try await phone.pinChange(from: phone.newPINKey(), to: nil))
                #expect(reply.refusal == Refusal(422, "pin_incorrect") && reply.json["attempts_left"] == .integer(left))
            }
            #expect(try await phone.send(.GET, "/v1/enrollments/self").refusal == Refusal(403, "device_deregistered"))
            try await Self.expectWait(server, shop, user)
        }
    }

    @Test("Nor does the client's own removal")
    func clientRemoves() async throws {
        try await Self.with { server, shop, user, phone, _ in
            let path = "/v1/users/\(user)/enrollments/\(phone.enrollment)"
            #expect(try await shop.call(.DELETE, path).status == 204)
            try await Self.expectWait(server, shop, user)
        }
    }

    @Test("Nor does a user made anew under the same external id")
    func madeAnew() async throws {
        try await Self.with { server, shop, user, _, _ in
            #expect(try await shop.call(.DELETE, "/v1/users/\(user)").status == 204)
            try await Self.expectWait(server, shop, try await shop.makeUser("customer-1"))
        }
    }

    @Test(
        "A first PIN by ticket on a phone in use waits, and a waiver of the fingerprint ends that, by client or operator",
        arguments: [true, false])
    func firstPIN(_ isByClient: Bool) async throws {
        try await Self.with(hasPIN: false) { server, shop, user, phone, _ in
            let ticket = try await shop.makeTicket(for: user)
            let invitation = try #require(EnrollmentInvitation(ticket))
            let change = try await phone.pinChange(from: nil, to: phone.newPINKey())
            let reply = try await phone.change(
                MethodChangeRequest(message: change.message, ticket: invitation.ticket))
            #expect(reply.status == 204)
            let question: JSONValue = ["user": .string(user), "type": "payment", "message": "Pay?"]
            #expect(try await shop.call(.POST, "/v1/challenges", question).refusal == Refusal(409, "no_enrollment"))
            let path = "/v1/users/\(user)/enrollments/\(phone.enrollment)/waiver"
            let body: JSONValue = ["fingerprint": .string("\(phone.certificate.fingerprint)")]
            #expect(try await shop.call(.POST, path, body).refusal == Refusal(403, "right_missing"))
            let admin = "/v1/admin/enrollments/\(phone.enrollment)/waiver"
            let other: JSONValue = ["fingerprint": "9A4C33D05E1B2A7788990011223344556677AABB"]
            if isByClient {
                let right: JSONValue = ["waive_enrollment_approval": true]
                let client = "/v1/admin/clients/\(shop.clientID)"
                #expect(try await server.administrator.call(.PATCH, client, right).status == 200)
            }
            let (caller, waiver) = isByClient ? (shop, path) : (server.administrator, admin)
            #expect(try await caller.call(.POST, waiver, other).refusal == Refusal(404, "enrollment_not_found"))
            #expect(try await shop.call(.POST, "/v1/challenges", question).refusal == Refusal(409, "no_enrollment"))
            #expect(try await caller.call(.POST, waiver, body).status == 204)
            #expect(try await shop.call(.POST, "/v1/challenges", question).status == 201)
        }
    }

    @Test("Issue 20, 13: a change by ticket is refused where enrollment would be, by a block or without a link")
    func blocked() async throws {
        try await Self.with(hasPIN: false) { server, shop, user, phone, _ in
            let invitation = try #require(EnrollmentInvitation(try await shop.makeTicket(for: user)))
            _ = try await shop.call(.PATCH, "/v1/users/\(user)", ["enrollment_blocked": true]).success()
            let change = try await phone.pinChange(from: nil, to: phone.newPINKey())
            let request = MethodChangeRequest(message: change.message, ticket: invitation.ticket)
            #expect(try await phone.change(request).refusal == Refusal(403, "enrollment_blocked"))
            _ = try await shop.call(.PATCH, "/v1/users/\(user)", ["enrollment_blocked": false]).success()
            let again = try await phone.pinChange(from: nil, to: phone.newPINKey())
            let good = MethodChangeRequest(message: again.message, ticket: invitation.ticket)
            #expect(try await phone.change(good).status == 204)
        }
    }

    @Test(
        "Another device is suspended, resumed and removed by a method's signature, and not without"
    )
    func otherDevices() async throws {
        try await Self.with { server, shop, user, phone, key in
            let key = try #require(key)
            let other = try await TestPhone(invitation: try await shop.makeTicket(for: user), server: server)
            _ = try await other.enroll().success()
            #expect(
                try await other.send(.GET, "/v1/enrollments/self/others").refusal == Refusal(409, "enrollment_waiting"))
            let admin = "/v1/admin/enrollments/\(other.enrollment)"
            let waiver: JSONValue = ["fingerprint": .string("\(other.certificate.fingerprint)")]
            #expect(try await server.administrator.call(.POST, "\(admin)/waiver", waiver).status == 204)
            func act(_ kind: DeviceAct.Kind, signedBy key: SigningKeyPair?) async throws -> Reply {
                let list = try OtherDevicesReply(try await phone.send(.GET, "/v1/enrollments/self/others").success())
                #expect(list.devices.map(\.enrollment) == [other.enrollment] && list.needsMethod)
                let text = DeviceAct(
                    issuer: server.issuer, enrollment: phone.enrollment, nonce: list.nonce, kind: kind,
                    device: other.enrollment
                ).text
                let authorization = try await key == nil ? nil : phone.seal(text, signedBy: key)
                return try await phone.send(
                    .POST, "/v1/enrollments/self/others/\(other.enrollment)/\(kind.rawValue)",
                    DeviceActRequest(authorization: authorization).json)
            }
            let refused = try await act(.suspend, signedBy: nil)
            #expect(refused.refusal == Refusal(403, "change_not_authorized") && refused.json["needs"] == "pin")
            let wrong = try await act(.suspend, signedBy: phone.newPINKey())
            #expect(wrong.refusal == Refusal(422, "pin_incorrect") && wrong.json["attempts_left"] == 2)
            #expect(try await act(.suspend, signedBy: key).status == 204)
            // It looks at itself, and does nothing else.
            #expect(try await other.send(.GET, "/v1/enrollments/self").success()["state"] == "suspended")
            for path in [
                "/v1/enrollments/self/methods", "/v1/enrollments/self/others", "/v1/enrollments/self/challenges",
            ] {
                #expect(try await other.send(.GET, path).refusal == Refusal(403, "enrollment_suspended"))
            }
            #expect(try await act(.resume, signedBy: nil).refusal == Refusal(403, "change_not_authorized"))
            #expect(try await act(.resume, signedBy: key).status == 204)
            #expect(try await other.send(.GET, "/v1/enrollments/self/methods").status == 200)
            #expect(try await act(.remove, signedBy: key).status == 204)
            let over = try await other.send(.GET, "/v1/enrollments/self")
            #expect(over.refusal == Refusal(403, "device_deregistered"))
        }
    }

    @Test("What is declared lost takes along what waits, and shortens nothing")
    func lost() async throws {
        try await Self.with { server, shop, user, phone, _ in
            let waiting = try await TestPhone(invitation: try await shop.makeTicket(for: user), server: server)
            #expect(try await waiting.enroll().json["approval"]?["number"] != nil)
            let path = "/v1/admin/enrollments/\(phone.enrollment)"
            #expect(
                try await server.administrator.call(.DELETE, "\(path)?reason=stolen").refusal
                    == Refusal(400, "invalid_parameter"))
            #expect(try await server.administrator.call(.DELETE, "\(path)?reason=lost").status == 204)
            #expect(try await server.administrator.call(.DELETE, path).refusal == Refusal(404, "enrollment_not_found"))
            let list = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]?.array
            #expect(list?.map { $0["reason"] } == ["lost", "lost"])
            try await Self.expectWait(server, shop, user)
        }
    }
}
