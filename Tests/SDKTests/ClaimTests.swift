import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

@Suite("An app scans the code of a challenge", .timeLimit(.minutes(15)))
struct ClaimTests {
    /// Asks whoever scans the code.
    private static func ask(_ scene: SDKScene, _ members: JSONObject = JSONObject()) async throws -> (
        id: String, code: String
    ) {
        var body: JSONObject = ["type": "qr", "message": "Sign in to ACME?"]
        for member in members.members { body[member.name] = member.value }
        let asked = try await scene.shop.call(.POST, "/v1/challenges", .object(body)).success()
        return (try #require(asked["id"]?.string), try #require(asked["code"]?["qr"]?.string))
    }

    /// The code of the error that something throws; `code` is the name of something else here.
    private static func refusal(_ body: @Sendable () async throws -> Void) async -> String { await code(body) }

    /// Brings the shop the code that a device was sent back with, which releases the approval.
    private static func release(_ path: String, by target: String, at back: String, in scene: SDKScene) async throws {
        let code = JSONValue.string(String(target.dropFirst("\(back)?return_code=".count)))
        let released = try await scene.shop.call(.POST, "\(path)/return", ["return_code": code]).success()
        #expect(released["state"] == "approved")
    }

    @Test("Scanned, opened, approved; the question says that it was claimed, after a relaunch, too")
    func whole() async throws {
        try await SDKScene.with { scene in
            let (id, code) = try await Self.ask(scene, ["context": ["ip": "203.0.113.7"]])
            #expect(Authenticator.isChallengeCode(code))
            let question = try await scene.enrollment.claim(code)
            #expect("\(question.id)" == id && question.isClaimed && question.context == "203.0.113.7")
            #expect(question.numberLength == nil)
            let again = try await scene.relaunched()
            let pending = try #require(try await again.pendingChallenges().first)
            #expect(try await pending.open().isClaimed)
            try await question.approve(with: .confirmation)
            let ended = try await scene.shop.call(.GET, "/v1/challenges/\(id)").success()
            #expect(ended["state"] == "approved" && ended["user"] == .string(scene.user))
            // What is put to devices was not claimed.
            #expect(try await !scene.open(try await scene.ask()).isClaimed)
        }
    }

    @Test("A reply that was lost: the same code is sent again, and is the same question")
    func lost() async throws {
        try await SDKScene.with { scene in
            let (id, code) = try await Self.ask(scene)
            scene.transport.loseReplies(1, from: "/claim")
            #expect("\(try await scene.enrollment.claim(code).id)" == id)
            #expect(scene.transport.requests(to: "/claim").count == 2)
        }
    }

    @Test("A link on the same device: the app is told where to go back to, and the client learns of it from there")
    func link() async throws {
        try await SDKScene.with { scene in
            let back = "https://shop.example.com/back"
            _ = try await scene.server.administrator.call(
                .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["return_uris": [.string(back)]]
            ).success()
            let body: JSONValue = ["type": "qr", "message": "Sign in to ACME?", "return_uri": .string(back)]
            let asked = try await scene.shop.call(.POST, "/v1/challenges", body).success()
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))"
            let text = try #require(asked["code"]?["link"]?.string)
            let link = try #require(URL(string: text))
            #expect(scene.authenticator.isChallengeLink(link) && !Authenticator.isChallengeCode(text))
            for other in ["https://evil.example.com/q#\(link.fragment ?? "")", "\(scene.server.issuer)/q", text + "x"] {
                let other = try #require(URL(string: other))
                #expect(!scene.authenticator.isChallengeLink(other))
                #expect(await Self.refusal { _ = try await scene.enrollment.claim(link: other) } == "code_malformed")
            }
            #expect(scene.transport.requests(to: "/claim").isEmpty, "a link to somebody else goes nowhere")
            let question = try await scene.enrollment.claim(link: link)
            #expect(question.isLink && question.isClaimed)
            scene.transport.loseReplies(1, from: "/answer")
            let approved = try await question.approve(with: .confirmation)
            let target = try #require(approved.returnURL).absoluteString
            #expect(target.hasPrefix("\(back)?return_code="))
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            #expect(try await scene.shop.call(.GET, path).success()["state"] == "pending")
            try await Self.release(path, by: target, at: back, in: scene)
        }
    }

    @Test("A picture that somebody made into a link goes nowhere, nor does a link that was made into a picture")
    func otherForm() async throws {
        try await SDKScene.with { scene in
            let (_, code) = try await Self.ask(scene)
            let members = try #require(Base64.decode(code))
            let link = try #require(URL(string: "\(scene.server.issuer)/q#\(Base64URL.encode(members))"))
            #expect(!scene.authenticator.isChallengeLink(link))
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(link: link) } == "code_malformed")
            let back = "https://shop.example.com/back"
            _ = try await scene.server.administrator.call(
                .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["return_uris": [.string(back)]]
            ).success()
            let body: JSONValue = ["type": "qr", "message": "Sign in to ACME?", "return_uri": .string(back)]
            let asked = try await scene.shop.call(.POST, "/v1/challenges", body).success()
            let fragment = try #require(asked["code"]?["link"]?.string?.split(separator: "#").last)
            let text = Base64.encode(try #require(Base64URL.decode(fragment)))
            #expect(!Authenticator.isChallengeCode(text))
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(text) } == "code_malformed")
            #expect(scene.transport.requests(to: "/claim").isEmpty, "refused before anything is sent")
            // Made to say that it is a link, it reaches the server, which did not make it.
            let marked = String(decoding: members, as: UTF8.self).replacing("\"qr.", with: "\"link.")
            let forged = try #require(
                URL(string: "\(scene.server.issuer)/q#\(Base64URL.encode(Array(marked.utf8)))"))
            #expect(scene.authenticator.isChallengeLink(forged))
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(link: forged) } == "code_invalid")
            _ = try await scene.enrollment.claim(code)
        }
    }

    /// Registers a place to return to, asks by a link, and claims it.
    private static func follow(
        _ back: String, by authenticator: Authenticator, in scene: SDKScene
    ) async throws -> (path: String, question: OpenedChallenge) {
        _ = try await scene.server.administrator.call(
            .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["return_uris": [.string(back)]]
        ).success()
        let body: JSONValue = ["type": "qr", "message": "Sign in to ACME?", "return_uri": .string(back)]
        let asked = try await scene.shop.call(.POST, "/v1/challenges", body).success()
        let link = try #require(asked["code"]?["link"]?.string.flatMap { URL(string: $0) })
        let enrollment = try #require(await authenticator.enrollments.first)
        return ("/v1/challenges/\(try #require(asked["id"]?.string))", try await enrollment.claim(link: link))
    }

    @Test("A proxy that changes the reply to an approval sends nobody elsewhere: the answer is sent again")
    func proxy() async throws {
        try await SDKScene.with { scene in
            let back = "https://shop.example.com/back"
            let (_, other) = try await Self.follow(back, by: scene.authenticator, in: scene)
            // A right message of another challenge, which a proxy could have kept.
            let replies = Replies()
            scene.transport.happen { request, send in
                let response = try await send(request)
                if request.url.path.hasSuffix("/answer") { await replies.keep(response.body) }
                return response
            }
            _ = try await other.approve(with: .confirmation)
            let reply = try #require(await replies.bodies.first)
            let kept = try #require(try JSONValue(parsing: reply)["return"])
            let (path, question) = try await Self.follow(back, by: scene.authenticator, in: scene)
            let forged: [JSONValue?] = [
                nil, kept, .string(Base64.encode([1, 2, 3])), "https://evil.example.com/?return_code=x",
            ]
            let turn = Turns(forged.count)
            scene.transport.happen { request, send in
                let response = try await send(request)
                guard request.url.path.hasSuffix("/answer"), let number = turn.next() else { return response }
                var object = try JSONValue(parsing: response.body).object ?? [:]
                object["return"] = forged[number]
                object["return_to"] = "https://evil.example.com/?return_code=x"
                return TransportResponse(
                    status: response.status, headers: response.headers, body: JSONValue.object(object).encoded)
            }
            let approved = try await question.approve(with: .confirmation)
            let target = try #require(approved.returnURL).absoluteString
            #expect(target.hasPrefix("\(back)?return_code="))
            let bodies = scene.transport.bodies(to: "\(path)/answer")
            #expect(bodies.count == forged.count + 1 && Set(bodies).count == 1, "the same bytes each time")
            try await Self.release(path, by: target, at: back, in: scene)
        }
    }

    @Test("An app goes back to https, and to the schemes that it was set up with; to no other, however it is asked")
    func schemes() async throws {
        try await SDKScene.with { scene in
            let back = "com.example.shop:/back"
            await #expect {
                _ = try await Self.follow(back, by: scene.authenticator, in: scene)
            } throws: { error in
                guard case CountersignError.notHandleable(let reason) = error else { return false }
                return reason == "this app does not go back to com.example.shop"
            }
            let set = try await scene.relaunched(returnSchemes: ["com.example.shop"])
            let (path, question) = try await Self.follow(back, by: set, in: scene)
            let target = try #require(try await question.approve(with: .confirmation).returnURL).absoluteString
            #expect(target.hasPrefix("\(back)?return_code="))
            try await Self.release(path, by: target, at: back, in: scene)
        }
    }

    @Test("Guesses at codes are limited, and whoever makes them is told so")
    func guesses() async throws {
        try await SDKScene.with { scene in
            let other = try #require(ChallengeID(try await Self.ask(scene).id))
            let guess = ChallengeCode(challenge: other, otp: Secret("qr.x"), form: .picture).text
            for number in 0...10 {
                let told = await Self.refusal { _ = try await scene.enrollment.claim(guess) }
                #expect(told == (number < 10 ? "code_invalid" : "rate_limited"))
            }
        }
    }

    @Test("What is refused says why, and a method that is missing can be set up while the code is shown")
    func refusals() async throws {
        try await SDKScene.with { scene in
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            for text in ["", "x", ticket] {
                #expect(!Authenticator.isChallengeCode(text))
                #expect(await Self.refusal { _ = try await scene.enrollment.claim(text) } == "code_malformed")
            }
            #expect(scene.transport.requests(to: "/claim").isEmpty, "what is no code goes nowhere")
            let (id, code) = try await Self.ask(scene)
            let other = try #require(ChallengeID(id))
            let forged = ChallengeCode(challenge: other, otp: Secret("qr.x"), form: .picture).text
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(forged) } == "code_invalid")
            let stranger = try await scene.authenticator.enroll(
                with: .ticket(try await scene.shop.makeTicket(for: try await scene.shop.makeUser())))
            _ = try await stranger.claim(code)
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(code) } == "code_already_claimed")
            scene.server.clock.advance(seconds: 200)
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(code) } == "challenge_expired")
            let (_, old) = try await Self.ask(scene)
            scene.server.clock.advance(seconds: 61)
            #expect(await Self.refusal { _ = try await scene.enrollment.claim(old) } == "code_expired")
            let elsewhere = try await scene.server.makeClient("Elsewhere", ["waive_enrollment_approval": true])
            let foreign = try await scene.authenticator.enroll(
                with: .ticket(try await elsewhere.makeTicket(for: try await elsewhere.makeUser())))
            let (_, third) = try await Self.ask(scene)
            #expect(await Self.refusal { _ = try await foreign.claim(third) } == "user_not_linked")
            let type: JSONValue = ["methods": ["pin"], "qr": true, "expires_in": 60]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/scan", type).success()
            let (_, typed) = try await Self.ask(scene, ["type": "scan"])
            await #expect {
                _ = try await scene.enrollment.claim(typed)
            } throws: { error in
                guard case CountersignError.methodMissing([.pin]) = error else { return false }
                return true
            }
            let pin = try PIN("83517")
            try await scene.enrollment.setPIN(pin)
            let question = try await scene.enrollment.claim(typed)
            try await question.approve(with: .pin(try PIN("83517")))
        }
    }
}

/// The bodies of replies, as somebody on the way keeps them.
private actor Replies {
    private(set) var bodies: [[UInt8]] = []

    func keep(_ body: [UInt8]) { bodies.append(body) }
}

/// Counts up to a number.
private final class Turns: Sendable {
    private let taken = Mutex(0)
    private let count: Int

    init(_ count: Int) { self.count = count }

    func next() -> Int? {
        taken.withLock { taken in
            guard taken < count else { return nil }
            taken += 1
            return taken - 1
        }
    }
}
