import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("RFC 6749 §2.3.1, OWASP ASVS 6.3.1: how many wrong credentials are listened to")
struct WrongCredentialTests {
    private static func basic(_ id: String, _ secret: String) -> String {
        "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))"
    }

    @Test("After 20 in a minute that name one client the next are told to wait, and the right secret is let in")
    func client() async throws {
        try await Scene.with { scene in
            let path = "/v1/users/\(scene.user)"
            let wrong = scene.server.caller(Self.basic(scene.shop.clientID, "wrong"))
            for _ in 0..<20 { expectRefusal(try await wrong.call(.GET, path), 401, "unauthorized") }
            for _ in 0..<3 {
                let refused = try await wrong.call(.GET, path)
                expectRefusal(refused, 429, "rate_limited")
                let seconds = try #require(refused.json["retry_after"]?.integer)
                #expect((1...60).contains(seconds))
                #expect(refused.headers["retry-after"] == "\(seconds)")
                #expect(refused.headers["www-authenticate"] == nil)
                // Nobody can lock a client out: not this one, nor another that is called from the same address.
                #expect(try await scene.shop.call(.GET, path).status == 200)
                #expect(try await scene.administrator.call(.GET, "/v1/admin/clients").status == 200)
            }
            scene.server.clock.advance(seconds: 61)
            expectRefusal(try await wrong.call(.GET, path), 401, "unauthorized")
        }
    }

    @Test("A client that does not exist is told the same as often, so that the limit tells nobody which there are")
    func unknownClient() async throws {
        try await Scene.with { scene in
            let path = "/v1/users/\(scene.user)"
            let id = scene.shop.clientID
            let unknown = id.dropLast() + (id.hasSuffix("0") ? "1" : "0")
            var bodies: [[JSONValue]] = []
            for named in [id, String(unknown)] {
                let caller = scene.server.caller(Self.basic(named, "wrong"))
                var replies: [Reply] = []
                for _ in 0..<22 { replies.append(try await caller.call(.GET, path)) }
                #expect(replies.map(\.status) == Array(repeating: 401, count: 20) + [429, 429])
                bodies.append(
                    replies.map { reply in
                        var body = reply.bodyWithoutRequestID.object ?? [:]
                        body["retry_after"] = nil
                        return .object(body)
                    })
            }
            #expect(bodies[0] == bodies[1])
        }
    }

    @Test("After 100 in a minute from one address the next are told to wait, whatever they name")
    func address() async throws {
        try await Scene.with { scene in
            let path = "/v1/users/\(scene.user)"
            var statuses: [Int] = []
            for number in 0..<105 {
                let reply = try await scene.server.caller(Self.basic("nobody-\(number)", "x")).call(.GET, path)
                statuses.append(reply.status)
            }
            #expect(statuses == Array(repeating: 401, count: 100) + Array(repeating: 429, count: 5))
            expectRefusal(try await scene.server.caller("Bearer wrong").call(.GET, path), 429, "rate_limited")
            #expect(try await scene.shop.call(.GET, path).status == 200)
            // Without credentials nothing was guessed, and the caller is told how to authenticate.
            let none = try await scene.server.send(.GET, path)
            expectRefusal(none, 401, "unauthorized")
            #expect(none.headers["www-authenticate"] != nil)
        }
    }
}
