import CountersignWire
import Encodings
import ServerTestSupport
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import CountersignServer

@Suite("A server takes on no more requests than it can answer in time")
struct LoadLimitTests {
    private static let start = ContinuousClock.now

    /// How many of this many requests are admitted.
    private static func admitted(_ count: Int, by load: LoadLimit, at time: Duration) -> Int {
        (0..<count).count { _ in load.enter(at: start + time) }
    }

    private static func answer(_ count: Int, by load: LoadLimit, at time: Duration) {
        for _ in 0..<count { load.leave(at: start + time) }
    }

    @Test("At first so many as are allowed in any case; each answer makes room")
    func least() {
        let load = LoadLimit(least: 10)
        #expect(Self.admitted(12, by: load, at: .zero) == 10)
        #expect(load.working == 10 && load.refused == 2)
        Self.answer(3, by: load, at: .milliseconds(10))
        #expect(Self.admitted(5, by: load, at: .milliseconds(20)) == 3)
    }

    @Test("Later so many as are answered in a tenth of a second; after a pause the first limit holds again")
    func measured() {
        let load = LoadLimit(least: 10)
        for step in 0..<50 {
            let time = Duration.milliseconds(10 * step)
            #expect(Self.admitted(10, by: load, at: time) == 10)
            Self.answer(10, by: load, at: time)
        }
        #expect(Self.admitted(200, by: load, at: .milliseconds(500)) == 100)
        // Slower, and a window that is a little longer: the limit follows.
        Self.answer(90, by: load, at: .milliseconds(900))
        Self.answer(10, by: load, at: .milliseconds(1250))
        #expect(Self.admitted(200, by: load, at: .milliseconds(1252)) == 12)
        Self.answer(12, by: load, at: .milliseconds(1300))
        #expect(Self.admitted(200, by: load, at: .seconds(10)) == 10)
    }

    @Test("The log is told once a second")
    func told() {
        let load = LoadLimit()
        let told = [0, 500, 999, 1000, 1999, 2000].filter { load.tells(at: Self.start + .milliseconds($0)) }
        #expect(told == [0, 1000, 2000])
    }

    @Test("RFC 9110 §15.6.4: who is refused is told when to come again; health is always told")
    func overHTTP() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.leastLoad = 0 }) { server in
            let refused = try await server.send(.GET, "/v1/users/any")
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            let problem = try JSONValue(parsing: refused.body)
            #expect(problem["code"] == "unavailable" && problem["retry_after"] == 1)
            for probe in ["/healthz", "/readyz"] { #expect(try await server.send(.GET, probe).status == 200) }
        }
    }

    @Test("A body that does not come takes no place, nor does a request that waits")
    func slowBodies() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.leastLoad = 1 }) { server in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser()
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/scan", ["qr": true]).success()
            let asked = try await shop.call(.POST, "/v1/challenges", ["type": "scan", "message": "?"]).success()
            let slow = try await RawConnection.connect(to: server)
            try await slow.executeThenClose { _, outbound in
                let head = "POST /v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
                try await outbound.write(ByteBuffer(string: head))
                let id = try #require(asked["id"]?.string)
                for _ in 0..<20 { #expect(try await shop.call(.GET, "/v1/users/\(user)").status == 200) }
                let isOver = Mutex(false)
                async let wait = {
                    let status = try await shop.call(.GET, "/v1/challenges/\(id)?wait=5").status
                    isOver.withLock { $0 = true }
                    return status
                }()
                // While its wait begins, the request has the place.
                var statuses: [Int] = []
                while statuses.last != 200, statuses.count < 1000 {
                    statuses.append(try await shop.call(.GET, "/v1/users/\(user)").status)
                }
                #expect(statuses.last == 200 && !isOver.withLock { $0 })
                #expect(try await wait == 200)
            }
        }
    }
}
