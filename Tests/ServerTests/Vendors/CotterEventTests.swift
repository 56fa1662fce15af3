import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0108-cotters-door.md; docs/protocol/jwk-devices.md, *Events*.
@Suite("Cotter: an app asks, and a trusted device answers")
struct CotterEventTests {
    private static let notSigned = "no trusted device of the user has signed this"
    private static let over = "there is no such event, or it is over"

    @Test(
        "Asked, found by the user's name, approved; the app gets its tokens once",
        arguments: CotterDevice.Kind.allCases)
    func approves(_ kind: CotterDevice.Kind) async throws {
        try await CotterEventScene.with(kind) { scene in
            let event = try await scene.ask()
            #expect(event["new"] == true && event["approved"] == false && event["event"] == "LOGIN")
            #expect(event["issuer"] == .string(scene.app.key) && event["client_user_id"] == "customer-1")
            #expect(event["DeletedAt"] == .null && event["location"] == "unknown")
            #expect(event["method"] == "TRUSTED_DEVICE")
            #expect(try #require(event["ID"]?.integer) < 1 << 53)
            let found = try await scene.pending()
            #expect(found["timestamp"] == event["timestamp"] && found["event"] == "LOGIN" && found["new"] == true)
            // What the device gets leads to no tokens.
            #expect(found["ID"] != event["ID"])
            let waiting = try await scene.look(event).success()
            #expect(waiting["new"] == true && waiting["oauth_token"] == nil)
            let answer = try await scene.answer(found, true)
            let answered = try await scene.respond(found, answer).success()
            #expect(answered["approved"] == true && answered["new"] == false && answered["oauth_token"] == nil)
            #expect(try await scene.app.get("/event/new/customer-1").json == .null)
            let plain = try await scene.look(event, withTokens: false).success()
            #expect(plain["approved"] == true && plain["oauth_token"] == nil)
            let done = try await scene.look(event).success()
            let tokens = try #require(done["oauth_token"])
            #expect(tokens["auth_method"] == "TRUSTED_DEVICE" && tokens["refresh_token"] == "")
            let access = try #require(tokens["access_token"]?.string)
            let info = try await scene.app.userinfo(access).success()
            #expect(info["sub"] == .string(scene.app.scene.user))
            let signature = try #require(done["signature"]?.string)
            let text = "customer-1\(scene.app.key)LOGIN\(event["timestamp"]?.string ?? "")TRUSTED_DEVICEfalsetrue"
            #expect(try await scene.app.isSigned(text, by: signature))
            // The same answer again is the same; the tokens that are fetched twice end.
            #expect(try await scene.respond(found, answer).success()["approved"] == true)
            #expect(try await scene.look(event).success()["oauth_token"] == nil)
            #expect(try await scene.app.userinfo(access).status == 401)
        }
    }

    @Test("Flutter's library says user_id, asks for LOGIN_WITH_DEVICE, and finds the question by the query")
    func flutter() async throws {
        try await CotterEventScene.with(.flutter) { scene in
            let names: KeyValuePairs<String, JSONValue?> = ["client_user_id": nil, "user_id": "customer-1"]
            let question = scene.question(
                "customer-1", ["client_user_id": nil, "user_id": "customer-1", "event": "LOGIN_WITH_DEVICE"])
            let event = try await scene.app.post("/event/create_pending", question).success()
            #expect(event["event"] == "LOGIN_WITH_DEVICE" && event["new"] == true)
            #expect(event["user_id"] == "customer-1" && event["client_user_id"] == "customer-1")
            _ = try await scene.pending()
            let found = try await scene.app.get("/event/new?client_user_id=customer-1").success()
            #expect(found["event"] == "LOGIN_WITH_DEVICE" && found["new"] == true)
            // The event's name is a part of what is signed.
            let other = scene.signed(found, true).replacing("_WITH_DEVICE", with: "")
            let wrong = try await scene.answer(found, true, signing: other, changing: names)
            expectMessage(try await scene.respond(found, wrong), 400, Self.notSigned)
            let right = try await scene.answer(found, true, changing: names)
            #expect(right["client_user_id"] == nil && right["algorithm"] == "ED25519")
            let answered = try await scene.respond(found, right).success()
            #expect(answered["approved"] == true && answered["new"] == false)
            #expect(try await scene.look(event).success()["oauth_token"]?["auth_method"] == "TRUSTED_DEVICE")
            // A trusted device signs in by the same names.
            scene.server.clock.advance(.minutes(1))
            let time = JSONValue.string("\(scene.server.clock.now.seconds)")
            let own: JSONValue = ["event": "LOGIN_WITH_DEVICE", "timestamp": time]
            let body = try await scene.answer(own, true, changing: names)
            let done = try await scene.app.post("/event/create?oauth_token=true", body).success()
            #expect(done["event"] == "LOGIN_WITH_DEVICE" && done["approved"] == true)
            let access = try #require(done["oauth_token"]?["access_token"]?.string)
            #expect(try await scene.app.userinfo(access).success()["sub"] == .string(scene.app.scene.user))
        }
    }

    @Test(
        "A client's own name may have the form of a UUID or of an address: its user is asked and answers by it",
        arguments: ["8c7b6a5d-0981-4718-899b-bcd512de1aca", "anna@example.com"])
    func names(_ name: String) async throws {
        try await CotterEventScene.with { scene in
            let path = "/v1/users/\(scene.app.scene.user)"
            let named = try await scene.app.scene.shop.call(.PATCH, path, ["external_id": .string(name)])
            #expect(named.status == 200, "\(named)")
            let event = try await scene.ask(name)
            let found = try await scene.pending(name)
            let answer = try await scene.answer(found, true, user: name)
            let answered = try await scene.respond(found, answer).success()
            #expect(answered["approved"] == true && answered["client_user_id"] == .string(name), "\(answered)")
            let access = try #require(try await scene.look(event).success()["oauth_token"]?["access_token"]?.string)
            #expect(try await scene.app.userinfo(access).success()["sub"] == .string(scene.app.scene.user))
        }
    }

    @Test("What the client asks by our own call is answered, too, where its type takes such answers")
    func asked() async throws {
        try await CotterEventScene.with { scene in
            let shop = scene.app.scene.shop
            // A number must be typed, so that nothing is found.
            _ = try await shop.ask(scene.app.scene.user)
            #expect(try await scene.app.get("/event/new/customer-1").json == .null)
            let asked = try await shop.ask(scene.app.scene.user, ["type": "cotter"])
            let challenge = try #require(asked["id"]?.string)
            let found = try await scene.app.get("/event/new/customer-1").success()
            #expect(found["event"] == "COTTER" && found["new"] == true)
            expectMessage(try await scene.look(found), 404, Self.over)
            let wrong = try await scene.answer(found, true, signing: scene.signed(found, false))
            expectMessage(try await scene.respond(found, wrong), 400, Self.notSigned)
            let answered = try await scene.respond(found, try await scene.answer(found, true)).success()
            #expect(answered["approved"] == true && answered["new"] == false)
            let ended = try await shop.call(.GET, "/v1/challenges/\(challenge)").success()
            #expect(ended["state"] == "approved", "\(ended)")
            let receipt = try await shop.call(.GET, "/v1/challenges/\(challenge)/receipt")
            #expect(receipt.headers["content-type"] == "application/json")
            #expect(receipt.json["event"] == .string(scene.signed(found, true)), "\(receipt)")
            let keys = try await shop.call(.GET, "/v1/challenges/\(challenge)/receipt?format=certificate")
            #expect(keys.json["answers"] == "event" && keys.json["proofOfPossession"]?["kty"] == "EC", "\(keys)")
        }
    }

    @Test("A no ends it at once, and there are no tokens")
    func denies() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            let answered = try await scene.respond(found, try await scene.answer(found, false)).success()
            #expect(answered["approved"] == false && answered["new"] == false)
            let done = try await scene.look(event).success()
            #expect(done["approved"] == false && done["new"] == false && done["oauth_token"] == nil)
            // A later yes is too late.
            let late = try await scene.respond(found, try await scene.answer(found, true)).success()
            #expect(late["approved"] == false)
            #expect(try await scene.look(event).success()["oauth_token"] == nil)
        }
    }

    @Test("The phone with our SDK answers, too, without a number")
    func phone() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            let phone = scene.app.scene.phone
            let reply = try await phone.answer(try await scene.app.pages.pending(), .approved(.confirm, number: nil))
            #expect(reply.status == 200, "\(reply)")
            #expect(try await scene.look(event).success()["oauth_token"]?["auth_method"] == "TRUSTED_DEVICE")
            let late = try await scene.respond(found, try await scene.answer(found, false)).success()
            #expect(late["approved"] == true)
        }
    }

    @Test("Whoever signs something else, with another key, for another user, or by another number decides nothing")
    func cheating() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            let stranger = try CotterDevice()
            _ = try await scene.app.scene.shop.makeUser("customer-2")
            let others = try CotterDevice(.reactNative)
            _ = try await scene.enroll(others, for: "customer-2").success()
            let yes = scene.signed(found, true)
            let bodies = [
                // A no that is sent as a yes, and a yes as a no.
                try await scene.answer(found, true, signing: scene.signed(found, false)),
                try await scene.answer(found, false, signing: yes),
                // Another time, another event, another client, another user.
                try await scene.answer(found, true, signing: yes.replacing("TRUSTED", with: "1TRUSTED")),
                try await scene.answer(found, true, signing: yes.replacing("LOGIN", with: "TRANSACTION")),
                try await scene.answer(found, true, signing: scene.signed(found, true, key: "cli_0")),
                try await scene.answer(found, true, signing: scene.signed(found, true, user: "customer-2")),
                // A key that nobody has enrolled, and that of somebody else.
                try await scene.answer(found, true, by: stranger), try await scene.answer(found, true, by: others),
                // The user's key, and a signature of somebody else.
                try await scene.answer(found, true, changing: ["code": .string(try await stranger.sign(yes))]),
                try await scene.answer(found, true, changing: ["code": ""]),
                try await scene.answer(found, true, user: "nobody"),
            ]
            for body in bodies { expectMessage(try await scene.respond(found, body), 400, Self.notSigned) }
            // Somebody else's device, which was not asked.
            let own = try await scene.answer(found, true, by: others, user: "customer-2")
            expectMessage(try await scene.respond(found, own), 404, Self.over)
            // The number of the app that asks is none to answer by, and the other way round.
            let right = try await scene.answer(found, true)
            expectMessage(try await scene.respond(event, right), 400, Self.notSigned)
            expectMessage(try await scene.look(found), 404, Self.over)
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            let settings: JSONValue = [
                "profile": "compatible", "redirect_uris": ["yourapp://"], "ways": ["device", "email"],
            ]
            let set = try await scene.app.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.clientID)/openid", settings)
            #expect(set.status == 200, "\(set)")
            expectMessage(try await scene.look(event, key: other.clientID), 404, Self.over)
            let number = try #require(found["ID"]?.integer)
            expectMessage(
                try await scene.app.post("/event/respond/\(number)", right, key: other.clientID), 400, Self.notSigned)
            #expect(try await scene.app.get("/event/new/customer-1", key: other.clientID).json == .null)
            let state = try await scene.look(event).success()
            #expect(state["new"] == true && state["approved"] == false)
            #expect(try await scene.respond(found, right).success()["approved"] == true)
        }
    }

    @Test("One signature decides one event, even if another one has the same second")
    func once() async throws {
        try await CotterEventScene.with { scene in
            try await scene.server.clock.stopped { _ in
                let first = try await scene.ask()
                let found = try await scene.pending()
                _ = try await scene.respond(found, try await scene.answer(found, false)).success()
                let second = try await scene.ask()
                #expect(second["timestamp"] == first["timestamp"] && second["ID"] != first["ID"])
                let next = try await scene.pending()
                let again = try await scene.respond(next, try await scene.answer(next, false))
                expectMessage(again, 400, Self.notSigned)
                #expect(try await scene.look(second).success()["new"] == true)
                #expect(try await scene.respond(next, try await scene.answer(next, true)).status == 200)
            }
        }
    }

    @Test("Answers that come at once, by both devices: one counts, and everybody sees the same")
    func atOnce() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            let phone = scene.app.scene.phone
            let challenge = try await scene.app.pages.pending()
            let question = try await phone.open(challenge).question
            let sealed = try await phone.seal(phone.receipt(of: question, .denied).text)
            let (yes, no) = (try await scene.answer(found, true), try await scene.answer(found, false))
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for body in [yes, no, yes, no] { group.addTask { try await scene.respond(found, body) } }
                group.addTask { try await phone.answer(challenge, message: sealed) }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let done = try await scene.look(event).success()
            #expect(done["new"] == false && (done["oauth_token"] != nil) == (done["approved"] == true))
            for reply in replies where reply.json["approved"] != nil {
                #expect(reply.json["approved"] == done["approved"], "\(reply)")
            }
            let ends = try await scene.app.scene.administrator.auditEvents().filter {
                $0["kind"]?.string?.hasPrefix("challenge.") == true && $0["challenge"] == .string(challenge)
            }
            let kinds = ends.compactMap { $0["kind"]?.string }
            #expect(kinds.count { ["challenge.approved", "challenge.denied"].contains($0) } == 1, "\(kinds)")
        }
    }

    @Test("A type that wants more than an event is answered by no such device, even if it has been asked")
    func assurance() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            var stronger = try #require(CotterEventScene.type.object)
            stronger["assurance"] = "challenge"
            let set = try await scene.app.scene.administrator.call(.PUT, "/v1/admin/types/cotter", .object(stronger))
            #expect(set.status < 300, "\(set)")
            expectMessage(
                try await scene.respond(found, try await scene.answer(found, true)), 400,
                "the device, or its answer, does not count for this")
            #expect(try await scene.look(event).success()["new"] == true)
        }
    }

    @Test("Nobody's question looks like everybody's, and is never approved; it is over after two minutes")
    func nobody() async throws {
        try await CotterEventScene.with { scene in
            for name in ["nobody", "nobody@example.com", "usr_00000000000000000000000000"] {
                let event = try await scene.ask(name)
                let names = event.object?.members.map(\.name)
                let found = try await scene.app.get("/event/new/\(FormText.encoded(name))").success()
                #expect(found.object?.members.map(\.name) == names && found["new"] == true)
                #expect(try await scene.look(event).success().object?.members.map(\.name) == names)
                let answer = try await scene.answer(found, true, user: name)
                expectMessage(try await scene.respond(found, answer), 400, Self.notSigned)
            }
            let event = try await scene.ask()
            #expect(try await scene.pending().object?.members.map(\.name) == event.object?.members.map(\.name))
            scene.server.clock.advance(.minutes(2))
            expectMessage(try await scene.look(event), 404, Self.over)
            #expect(try await scene.app.get("/event/new/customer-1").json == .null)
        }
    }

    @Test("Twenty wrong numbers in ten minutes are all that a network has; then right ones wait, too")
    func guesses() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            let answer = try await scene.answer(found, true)
            for number in 1...19 { expectMessage(try await scene.app.get("/event/get/\(number)"), 404, Self.over) }
            expectMessage(try await scene.app.post("/event/respond/20", answer), 400, Self.notSigned)
            for reply in [
                try await scene.look(event), try await scene.respond(found, answer),
                try await scene.app.get("/event/get/1"),
            ] {
                #expect(reply.status == 429 && reply.headers["retry-after"] != nil, "\(reply)")
            }
            for number in ["x", "-1", "99999999999999999999"] {
                let reply = try await scene.app.get("/event/get/\(number)")
                #expect(reply.status == 404 || reply.status == 429, "\(reply)")
            }
        }
    }

    @Test("Of one name three questions are found in an hour, whether there is such a user or not; the app sees no less")
    func many() async throws {
        try await CotterEventScene.with { scene in
            for name in ["customer-1", "nobody"] {
                let path = "/event/new/\(name)"
                for _ in 1...3 {
                    _ = try await scene.ask(name)
                    #expect(try await scene.app.get(path).success()["new"] == true)
                    scene.server.clock.advance(.minutes(5))
                }
                let fourth = try await scene.ask(name)
                #expect(try await scene.app.get(path).json == .null)
                let seen = try await scene.look(fourth).success()
                #expect(seen["new"] == true && seen["approved"] == false)
            }
            scene.server.clock.advance(.hours(1))
            _ = try await scene.ask("nobody")
            #expect(try await scene.app.get("/event/new/nobody").success()["new"] == true)
        }
    }

    @Test("What is signed of an event is no statement about an address, whatever name somebody gives")
    func statements() async throws {
        try await CotterEventScene.with { scene in
            let address = "anna@example.com"
            for name in [
                "\(address)EMAIL\(scene.app.key)9999999999", "+491701234567PHONE\(scene.app.key)9999999999",
                String(repeating: "x", count: 1025),
            ] {
                let wrong = "client_user_id is missing or wrong"
                expectMessage(
                    try await scene.app.post("/event/create_pending", scene.question(name)), 400, wrong)
                expectMessage(try await scene.app.get("/event/new/\(FormText.encoded(name))"), 400, wrong)
            }
            for name in ["email@example.com", "+491701234567", String(repeating: "x", count: 1024)] {
                #expect(try await scene.ask(name)["client_user_id"] == .string(name))
            }
        }
    }

    @Test("Without the type, or without the device grant with names, nobody is asked")
    func off() async throws {
        try await CotterEventScene.with(type: nil) { scene in
            expectMessage(
                try await scene.app.post("/event/create_pending", scene.question()), 400,
                "there is no challenge type cotter")
        }
        for settings in [
            ["device_login_hint": false], ["device_login_hint": false, "device_grant": false],
        ] as [JSONObject] {
            try await CotterEventScene.with(.iOS, settings) { scene in
                expectMessage(
                    try await scene.app.post("/event/create_pending", scene.question()), 400,
                    "the client has no device grant with names of people")
            }
        }
    }

    @Test("Each member that is wrong")
    func refused() async throws {
        try await CotterEventScene.with { scene in
            for (name, value) in [
                ("client_user_id", nil), ("client_user_id", ""), ("event", nil), ("event", "login"),
                ("event", "LOGIN1"), ("event", ""), ("method", "PIN"), ("method", nil),
            ] as [(String, JSONValue?)] {
                expectMessage(
                    try await scene.app.post("/event/create_pending", scene.question("customer-1", [name: value])),
                    400, "\(name) is missing or wrong")
            }
            for change in [
                ["event": "ENROLL_NEW_TRUSTED_DEVICE"], ["register_new_device": true],
            ] as [KeyValuePairs<String, JSONValue?>] {
                expectMessage(
                    try await scene.app.post("/event/create_pending", scene.question("customer-1", change)), 400,
                    "a further device is not enrolled by an event")
            }
            _ = try await scene.ask()
            let found = try await scene.pending()
            for (name, value) in [
                ("public_key", nil), ("public_key", "AAAA"),
                ("public_key", .string(Base64.encode([UInt8](repeating: 0, count: 32)))),
                ("algorithm", "RSA"), ("code", nil), ("code", "?"), ("approved", nil), ("approved", "true"),
            ] as [(String, JSONValue?)] {
                let reply = try await scene.respond(found, try await scene.answer(found, true, changing: [name: value]))
                let named = name == "algorithm" ? "public_key" : name
                expectMessage(reply, 400, "\(named) is missing or wrong")
            }
        }
    }

    @Test("A trusted device signs its own user in, once with one signature, in its time")
    func own() async throws {
        try await CotterEventScene.with { scene in
            let now = JSONValue.string("\(scene.server.clock.now.seconds)")
            let event: JSONValue = ["event": "LOGIN", "timestamp": now, "ip": "1.2.3.4", "location": "unknown"]
            let body = try await scene.answer(event, true)
            let done = try await scene.app.post("/event/create?oauth_token=true", body).success()
            #expect(done["approved"] == true && done["new"] == false && done["timestamp"] == now)
            let access = try #require(done["oauth_token"]?["access_token"]?.string)
            let info = try await scene.app.userinfo(access).success()
            #expect(info["sub"] == .string(scene.app.scene.user))
            // Nothing waits under its number.
            expectMessage(try await scene.look(done), 404, Self.over)
            expectMessage(try await scene.app.post("/event/create?oauth_token=true", body), 400, Self.notSigned)
            let fresh = try await scene.answer(event, true)
            expectMessage(try await scene.app.post("/event/create", fresh), 400, Self.notSigned)
        }
    }

    @Test("A yes that comes too late is good for nothing else: it signs nobody in by itself")
    func late() async throws {
        try await CotterEventScene.with { scene in
            let event = try await scene.ask()
            let found = try await scene.pending()
            _ = try await scene.respond(found, try await scene.answer(found, false)).success()
            let yes = try await scene.answer(found, true)
            for _ in 1...2 {
                let answered = try await scene.respond(found, yes).success()
                #expect(answered["approved"] == false && answered["new"] == false)
            }
            expectMessage(try await scene.app.post("/event/create?oauth_token=true", yes), 400, Self.notSigned)
            #expect(try await scene.look(event).success()["oauth_token"] == nil)
        }
    }

    @Test("A device's own sign-in of another time, by another key, for another user, or a no, is none")
    func ownTimes() async throws {
        try await CotterEventScene.with { scene in
            let now = scene.server.clock.now.seconds
            for seconds in [-301, 302, -100_000, Int64(9_999_999_999) - now] {
                let event: JSONValue = ["event": "LOGIN", "timestamp": .string("\(now + seconds)")]
                let body = try await scene.answer(event, true)
                expectMessage(try await scene.app.post("/event/create", body), 400, Self.notSigned)
            }
            for written in ["", "x", "-1", "01", "99999999999", "9223372036854775807"] {
                let event: JSONValue = ["event": "LOGIN", "timestamp": .string(written)]
                let body = try await scene.answer(event, true)
                expectMessage(
                    try await scene.app.post("/event/create", body), 400, "timestamp is missing or wrong")
            }
            let event: JSONValue = ["event": "LOGIN", "timestamp": .string("\(now)")]
            for body in [
                try await scene.answer(event, false), try await scene.answer(event, true, by: try CotterDevice()),
                try await scene.answer(event, true, user: "customer-2"),
                try await scene.answer(event, true, signing: scene.signed(event, false)),
            ] { expectMessage(try await scene.app.post("/event/create", body), 400, Self.notSigned) }
        }
    }

    @Test("A removed device answers nothing, and signs nobody in")
    func removed() async throws {
        try await CotterEventScene.with { scene in
            _ = try await scene.ask()
            let found = try await scene.pending()
            let answer = try await scene.answer(found, true)
            _ = try await scene.enroll(scene.device, false).success()
            expectMessage(try await scene.respond(found, answer), 400, Self.notSigned)
            let event: JSONValue = ["event": "LOGIN", "timestamp": .string("\(scene.server.clock.now.seconds)")]
            let own = try await scene.app.post("/event/create", try await scene.answer(event, true))
            expectMessage(own, 400, Self.notSigned)
        }
    }
}
