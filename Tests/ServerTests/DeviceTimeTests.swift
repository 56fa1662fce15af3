import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("The time and the nonce of a device's request")
struct DeviceTimeTests {
    private static let own = "/v1/enrollments/self"

    @Test("A request may be 60 seconds old or early, and no more", arguments: [-61, -60, 0, 60, 61] as [Int64])
    func edges(_ offset: Int64) async throws {
        try await DeviceScene.with { scene in
            let (second, reply) = try await scene.server.clock.stopped { second in
                (second, try await scene.phone.send(.GET, Self.own, createdIn: offset))
            }
            if abs(offset) <= 60 {
                #expect(reply.status == 200, "\(reply)")
            } else {
                #expect(reply.refusal == Refusal(401, "clock_skew"))
                let told = try #require(reply.json["server_time"]?.string.flatMap { Timestamp($0) })
                #expect(told.seconds == second)
            }
        }
    }

    @Test("A late answer is refused with the server's time, and can be signed anew")
    func staleAnswer() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let body = AnswerRequest(message: try await scene.approval(of: asked)).json
            for offset: Int64 in [-3600, 3600] {
                let reply = try await scene.phone.send(.POST, "\(asked.path)/answer", body, createdIn: offset)
                #expect(reply.refusal == Refusal(401, "clock_skew"))
                #expect(reply.json["server_time"]?.string.flatMap { Timestamp($0) } != nil)
            }
            try await scene.expectUntouched(asked)
        }
    }

    @Test("Only a valid signature is told the server's time")
    func noTimeForStrangers() async throws {
        try await DeviceScene.with { scene in
            let stranger = try await scene.strangersPhone()
            let reply = try await stranger.send(
                .GET, Self.own, keyID: "\(scene.phone.enrollment)", createdIn: -3600)
            #expect(reply.refusal == Refusal(401, "signature_invalid"))
            #expect(reply.json["server_time"] == nil)
        }
    }

    /// A read, whose nonce is kept in memory, and a change, whose nonce is kept in the database.
    private static let requests: [(HTTPMethod, JSONValue?)] = [(.GET, nil), (.PATCH, ["device": ["name": "Mine"]])]

    @Test("A request sent twice is refused the second time", arguments: requests)
    func replay(_ method: HTTPMethod, _ body: JSONValue?) async throws {
        try await DeviceScene.with { scene in
            let headers = try await scene.phone.signature(method, Self.own, body: body?.encoded)
            func send() async throws -> Reply {
                try await scene.server.send(method, Self.own, headers: headers, body: body?.encoded)
            }
            #expect(try await send().status == 200)
            #expect(try await send().refusal == Refusal(401, "nonce_replayed"))
        }
    }

    @Test("The nonce of a change counts once, whatever it changes")
    func nonceOfAnotherRequest() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let body = AnswerRequest(message: try await scene.approval(of: asked)).json
            let nonce = "a-nonce-of-this-test"
            let name: JSONValue = ["device": ["name": "Mine"]]
            #expect(try await scene.phone.send(.PATCH, Self.own, name, nonce: nonce).status == 200)
            let reply = try await scene.phone.send(.POST, "\(asked.path)/answer", body, nonce: nonce)
            #expect(reply.refusal == Refusal(401, "nonce_replayed"))
            // Another device may happen to choose the same.
            #expect(try await scene.strangersPhone().send(.PATCH, Self.own, name, nonce: nonce).status == 200)
            try await scene.expectUntouched(asked)
        }
    }

    @Test("A nonce is remembered for as long as its request could be replayed", arguments: requests)
    func nonceIsRemembered(_ method: HTTPMethod, _ body: JSONValue?) async throws {
        try await DeviceScene.with { scene in
            let headers = try await scene.phone.signature(method, Self.own, body: body?.encoded, createdIn: 55)
            func send() async throws -> Reply {
                try await scene.server.send(method, Self.own, headers: headers, body: body?.encoded)
            }
            #expect(try await send().status == 200)
            scene.server.clock.advance(seconds: 110)
            #expect(try await send().refusal == Refusal(401, "nonce_replayed"))
            scene.server.clock.advance(seconds: 60)
            #expect(try await send().refusal == Refusal(401, "clock_skew"))
        }
    }

    @Test("Of one request sent ten times at once, one is let in", arguments: requests)
    func concurrentReplay(_ method: HTTPMethod, _ body: JSONValue?) async throws {
        try await DeviceScene.with { scene in
            let headers = try await scene.phone.signature(method, Self.own, body: body?.encoded)
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await scene.server.send(method, Self.own, headers: headers, body: body?.encoded)
                    }
                }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 200 } == 1)
            #expect(replies.count { $0.refusal == Refusal(401, "nonce_replayed") } == 9)
        }
    }
}
