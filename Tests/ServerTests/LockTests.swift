import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Issue 6.7: a report locks asking by that client for that user until an operator ends it")
struct LockTests {
    private static func report(_ scene: Scene) async throws -> String {
        let id = try await scene.ask().id
        _ = try await scene.phone.answer(id, .reported).success()
        return id
    }

    private static func ask(_ user: String, by caller: Caller) async throws -> Reply {
        try await caller.call(
            .POST, "/v1/challenges", ["user": .string(user), "type": "payment", "message": "Pay?"])
    }

    @Test("The client is told so, asks nothing and announces nothing more, and another user is asked as before")
    func locked() async throws {
        try await Scene.with { scene in
            let open = try await scene.ask().id
            let other = try await scene.shop.makeUser("customer-2")
            _ = try await TestPhone.enrolled(for: other, by: scene.shop, at: scene.server)
            _ = try await Self.report(scene)
            let before = try await scene.snapshot()
            expectRefusal(try await Self.ask(scene.user, by: scene.shop), 409, "asking_locked")
            expectRefusal(try await scene.shop.call(.POST, "/v1/challenges/\(open)/resend"), 409, "asking_locked")
            #expect(try await scene.snapshot() == before)
            let methods = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/methods").success()
            #expect(methods == ["types": [["type": "qr", "methods": ["confirm"]]]], "only what the user starts")
            #expect(try await Self.ask(other, by: scene.shop).status == 201)
            // What was asked before can still be answered: it is the user who says what becomes of it.
            #expect(try await scene.phone.answer(open, .denied).status == 200)
        }
    }

    @Test("A denial locks nothing, and the first report of several is the one that counts")
    func first() async throws {
        try await Scene.with { scene in
            _ = try await scene.phone.answer(try await scene.ask().id, .denied).success()
            let (one, two) = (try await scene.ask().id, try await scene.ask().id)
            for id in [two, one] { _ = try await scene.phone.answer(id, .reported).success() }
            let locks = try await scene.administrator.call(.GET, "/v1/admin/locks").success()
            #expect(locks["locks"]?.array?.count == 1)
            #expect(locks["locks"]?.array?.first?["challenge"]?.string == two)
            #expect(locks["locks"]?.array?.first?["user"]?.string == scene.user)
            #expect(locks["locks"]?.array?.first?["client"]?.string == scene.shop.clientID)
        }
    }

    @Test("An operator sees the locks and ends one; a client does neither")
    func ended() async throws {
        try await Scene.with { scene in
            let none = try await scene.administrator.call(.GET, "/v1/admin/locks").success()
            #expect(none == ["locks": []])
            let id = try await Self.report(scene)
            let page = try await scene.administrator.call(.GET, "/v1/admin/locks").success()
            #expect(page["cursor"]?.string == id)
            #expect(try await scene.administrator.call(.GET, "/v1/admin/locks?cursor=\(id)").success()["locks"] == [])
            for (method, path) in [(HTTPMethod.GET, "/v1/admin/locks"), (.DELETE, "/v1/admin/locks/\(id)")] {
                expectRefusal(try await scene.shop.call(method, path), 403, "right_missing")
            }
            expectRefusal(
                try await scene.administrator.call(.GET, "/v1/admin/locks?cursor=1"), 400, "invalid_parameter")
            let ended = try await scene.administrator.call(.DELETE, "/v1/admin/locks/\(id)")
            #expect(ended.status == 204)
            expectRefusal(
                try await scene.administrator.call(.DELETE, "/v1/admin/locks/\(id)"), 404, "challenge_not_found")
            #expect(try await Self.ask(scene.user, by: scene.shop).status == 201)
        }
    }
}
