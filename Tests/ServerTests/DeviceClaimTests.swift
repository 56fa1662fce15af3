import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("Asking whoever scans a code, POST /v1/challenges/claim", .timeLimit(.minutes(15)))
struct DeviceClaimTests {
    /// Asks by a code, and what its page gets.
    private static func ask(
        _ scene: DeviceScene, _ members: JSONObject = JSONObject()
    ) async throws -> (asked: JSONValue, path: String, code: JSONValue) {
        var body: JSONObject = ["type": "qr", "message": "Sign in to ACME?"]
        for member in members.members { body[member.name] = member.value }
        let asked = try await scene.shop.call(.POST, "/v1/challenges", .object(body)).success()
        let id = try #require(asked["id"]?.string)
        return (asked, "/v1/challenges/\(id)", try code(asked["code"]?["qr"]))
    }

    /// What a phone makes of what it has scanned.
    private static func code(_ text: JSONValue?) throws -> JSONValue {
        let code = text?.string.flatMap { ChallengeCode($0) }
        return try #require(code).claim
    }

    private static func with(_ code: JSONValue, _ name: String, _ value: JSONValue) -> JSONValue {
        var object = code.object ?? [:]
        object[name] = value
        return .object(object)
    }

    private static func claim(_ code: JSONValue, by phone: TestPhone) async throws -> Reply {
        try await phone.send(.POST, "/v1/challenges/claim", code)
    }

    @Test("Asked without a user, scanned, approved: the client learns who it was when it is claimed")
    func whole() async throws {
        try await DeviceScene.with { scene in
            let (asked, path, code) = try await Self.ask(scene)
            #expect(asked["user"] == nil && asked["claimed_at"] == nil && asked["number"] == nil)
            #expect(asked["enrollments"] == [])
            async let watched = scene.shop.call(.GET, "\(path)?wait=30").success()
            try await letItWait()
            let reply = try await Self.claim(code, by: scene.phone)
            #expect(reply.status == 204, "\(reply)")
            let claimed = try await watched
            #expect(claimed["state"] == "pending" && claimed["user"] == .string(scene.user))
            #expect(claimed["claimed_at"]?.string != nil, "a wait ends when a device has claimed it")
            let id = try #require(asked["id"]?.string)
            let pending = try await scene.phone.send(.GET, "/v1/enrollments/self/challenges").success()
            #expect(pending["challenges"]?.array?.count == 1, "it waits among the others, if the app ends now")
            let body = try await scene.phone.open(id)
            #expect(body.isClaimed && body.user == scene.phone.user && body.numberEntry == nil)
            let receipt = scene.phone.receipt(of: body.question, .approved(.confirm, number: nil))
            let answer = try await scene.phone.answer(id, message: try await scene.phone.seal(receipt.text)).success()
            #expect(answer["state"] == "approved")
            let ended = try await scene.shop.call(.GET, path).success()
            #expect(ended["state"] == "approved" && ended["user"] == .string(scene.user))
            #expect(try await scene.events("challenge.claimed").count == 1)
        }
    }

    @Test("Event streams tell that it was claimed, and how it ended")
    func stream() async throws {
        try await DeviceScene.with { scene in
            let (asked, path, code) = try await Self.ask(scene)
            try await scene.shop.stream("\(path)/events") { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.id == "pending")
                _ = try await Self.claim(code, by: scene.phone)
                let claimed = try #require(try await events.next())
                #expect(claimed.id == "claimed" && claimed.data?["state"] == "pending")
                #expect(claimed.data?["claimed_at"]?.string != nil)
                let id = try #require(asked["id"]?.string)
                let receipt = scene.phone.receipt(of: try await scene.phone.open(id).question, .denied)
                _ = try await scene.phone.answer(id, message: try await scene.phone.seal(receipt.text))
                #expect(try await events.next()?.id == "denied")
            }
        }
    }

    @Test("Every refusal by its own code")
    func refusals() async throws {
        try await DeviceScene.with { scene in
            let (_, path, code) = try await Self.ask(scene)
            let stranger = try await scene.strangersPhone()
            expectRefusal(
                try await Self.claim(Self.with(code, "otp", "x"), by: scene.phone), 422, "code_invalid")
            scene.server.clock.advance(seconds: 61)
            expectRefusal(try await Self.claim(code, by: scene.phone), 422, "code_expired")
            let shown = try await scene.shop.call(.GET, "\(path)/code").success()
            let fresh = try Self.code(shown["qr"])
            #expect(try await Self.claim(fresh, by: stranger).status == 204)
            expectRefusal(try await Self.claim(fresh, by: scene.phone), 409, "already_claimed")
            for place in ["code", "qr.svg"] {
                expectRefusal(try await scene.shop.call(.GET, "\(path)/\(place)"), 409, "already_claimed")
            }
            #expect(try await scene.shop.call(.DELETE, path).status == 200)
            expectRefusal(try await Self.claim(fresh, by: scene.phone), 409, "already_ended")
            expectRefusal(try await scene.shop.call(.GET, "\(path)/code"), 409, "already_ended")
            let pushed = try await scene.ask()
            expectRefusal(try await scene.shop.call(.GET, "\(pushed.path)/code"), 404, "no_code")
            let elsewhere = try await scene.server.makeClient("Elsewhere", ["waive_enrollment_approval": true])
            expectRefusal(try await elsewhere.call(.GET, "\(path)/code"), 404, "challenge_not_found")
            let (_, _, third) = try await Self.ask(scene)
            let foreign = try await TestPhone.enrolled(
                for: try await elsewhere.makeUser(), by: elsewhere, at: scene.server)
            expectRefusal(try await Self.claim(third, by: foreign), 403, "user_not_linked")
            let pin: JSONValue = ["methods": ["pin"], "qr": true, "expires_in": 60]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/scan", pin).success()
            let (_, _, typed) = try await Self.ask(scene, ["type": "scan"])
            let missing = try await Self.claim(typed, by: scene.phone)
            expectRefusal(missing, 409, "method_missing")
            #expect(missing.json["methods"] == ["pin"])
            for (body, status, name, pointer) in [
                (["otp": "x", "via": "qr"], 422, "missing_member", "/transaction_id"),
                (["transaction_id": "chl_", "otp": "x", "via": "qr"], 422, "invalid_member", "/transaction_id"),
                (["transaction_id": "chl_", "otp": "x"], 422, "missing_member", "/via"),
                (Self.with(code, "via", "nfc"), 422, "invalid_member", "/via"),
                (Self.with(code, "otp", 1), 422, "invalid_member", "/otp"),
                (Self.with(code, "user", "x"), 422, "unknown_member", "/user"),
            ] as [(JSONValue, Int, String, String)] {
                expectRefusal(try await Self.claim(body, by: scene.phone), status, name, at: pointer)
            }
        }
    }

    @Test("A picture made into a link is none, by whatever marker, and a claim that says so is refused")
    func madeIntoLink() async throws {
        try await DeviceScene.with { scene in
            let (asked, path, code) = try await Self.ask(scene)
            // As an app would read it that looks at the two members alone.
            let text = try #require(asked["code"]?["qr"]?.string)
            let members = try #require(Base64.decode(text))
            let link = "\(scene.server.issuer)/q#\(Base64URL.encode(members))"
            #expect(ChallengeCode(link: link, to: scene.server.issuer) == nil)
            let otp = try #require(code["otp"]?.string)
            #expect(otp.hasPrefix("qr."))
            let marked = JSONValue.string("link.\(otp.dropFirst(3))")
            for forged in [
                Self.with(code, "via", "link"), Self.with(Self.with(code, "via", "link"), "otp", marked),
                Self.with(code, "otp", marked), Self.with(code, "otp", .string(String(otp.dropFirst(3)))),
            ] {
                expectRefusal(try await Self.claim(forged, by: scene.phone), 422, "code_invalid")
            }
            #expect(try await scene.shop.call(.GET, path).success()["claimed_at"] == nil)
            #expect(try await Self.claim(code, by: scene.phone).status == 204)
            // Of what was claimed as a picture nothing else comes by presenting it as a link.
            expectRefusal(
                try await Self.claim(Self.with(code, "via", "link"), by: scene.phone), 422, "code_invalid")
            let told = try await scene.events("challenge.claimed")
            #expect(told.map { $0["detail"]?["via"] } == ["qr"])
        }
    }

    @Test("A type without a code needs a user, one with a code names no devices and lives three minutes at most")
    func asking() async throws {
        try await DeviceScene.with { scene in
            let nobody: JSONValue = ["type": "confirm", "message": "x"]
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", nobody), 422, "missing_member", at: "/user")
            let devices: JSONValue = [
                "type": "qr", "message": "x", "enrollments": [.string("\(scene.phone.enrollment)")],
            ]
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", devices), 422, "not_allowed_by_type",
                at: "/enrollments")
            let long: JSONValue = ["qr": true, "expires_in": 181]
            expectRefusal(
                try await scene.server.administrator.call(.PUT, "/v1/admin/types/scan", long), 422, "invalid_member",
                at: "/expires_in")
            // A user who is named claims it, and nobody else.
            let (asked, _, code) = try await Self.ask(scene, ["user": .string(scene.user)])
            #expect(asked["user"] == .string(scene.user))
            expectRefusal(try await Self.claim(code, by: try await scene.strangersPhone()), 422, "code_invalid")
            #expect(try await Self.claim(code, by: scene.phone).status == 204)
        }
    }

    @Test(
        "A client's reader of QR codes finds the text in both pictures",
        .enabled(if: QRReader.isThere, "zbarimg is not installed"))
    func pictures() async throws {
        try await DeviceScene.with { scene in
            let (_, path, _) = try await Self.ask(scene)
            let reply = try await scene.shop.call(.GET, "\(path)/qr.svg")
            #expect(reply.headers["content-type"] == "image/svg+xml")
            let text = try QRReader.read(svg: String(decoding: reply.body, as: UTF8.self))
            let phone = try #require(ChallengeCode(text))
            #expect(try await Self.claim(phone.claim, by: scene.phone).status == 204)
            for text in ["", "a", String(repeating: "0123456789ABCDEF+/=", count: 40)] {
                let picture = try QRPicture(of: text.isEmpty ? "x" : text)
                #expect(try QRReader.read(svg: picture.svg) == (text.isEmpty ? "x" : text))
                for isColoured in [true, false] {
                    let blocks = picture.blocks(inColours: isColoured)
                    #expect(blocks.contains("\u{1B}") == isColoured)
                    #expect(try QRReader.read(blocks: blocks) == (text.isEmpty ? "x" : text))
                }
            }
        }
        #expect(throws: QRPicture.Unencodable.self) { try QRPicture(of: String(repeating: "a", count: 2400)) }
    }
}
