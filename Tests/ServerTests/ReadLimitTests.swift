import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignCore
@testable import CountersignServer

@Suite("How many reads of devices a server remembers", .timeLimit(.minutes(15)))
struct ReadLimitTests {
    private static let path = "/v1/enrollments/self"

    /// The usual cast, and the nonces of reads that its server has in memory.
    private static func with(_ body: @escaping @Sendable (Scene, ReadNonces) async throws -> Void) async throws {
        try await TestServer.withPorts { server, ports in
            try await body(try await Scene.make(server), ports.readNonces)
        }
    }

    @Test("A device that has read too often within minutes is told to wait, and no other one is")
    func device() async throws {
        try await Self.with { scene, nonces in
            let clock = scene.server.clock
            var number = 0
            func spend() -> ReadNonces.Spending {
                number += 1
                let read = ReplayGuard("\(number)", of: "\(scene.phone.enrollment)", until: clock.now)
                return nonces.spend(read, at: clock.now)
            }
            while spend() == .spent {}
            #expect(spend() == .tooMany && number > 1000)
            let refused = try await scene.phone.send(.GET, Self.path)
            expectRefusal(refused, 429, "rate_limited")
            #expect(refused.json["retry_after"] == 60 && refused.headers["retry-after"] == "60")
            let user = try await scene.shop.makeUser()
            let other = try await TestPhone.enrolled(for: user, by: scene.shop, at: scene.server)
            #expect(try await other.send(.GET, Self.path).status == 200)
            // They are forgotten in two steps.
            clock.advance(seconds: 181)
            expectRefusal(try await scene.phone.send(.GET, Self.path), 429, "rate_limited")
            clock.advance(seconds: 181)
            #expect(try await scene.phone.send(.GET, Self.path).status == 200)
        }
    }

    @Test("When all devices together have, each is refused its reads, and none its changes")
    func everybody() async throws {
        try await Self.with { scene, nonces in
            let now = scene.server.clock.now
            var number = 0
            for length in [1 << 20, 1 << 10, 1] {
                let nonce = String(repeating: "x", count: length)
                while nonces.spend(ReplayGuard(nonce, of: "\(number)", until: now), at: now) == .spent { number += 1 }
            }
            expectRefusal(try await scene.phone.send(.GET, Self.path), 503, "unavailable")
            #expect(try await scene.phone.send(.DELETE, Self.path).status == 204)
        }
    }
}
