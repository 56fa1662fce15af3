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

    /// Has a number of requests worked on at a time, each for this long, from one time to another; returns the end.
    private static func work(_ count: Int, each: Duration, by load: LoadLimit, from begin: Duration, to end: Duration)
        -> Duration
    {
        var time = begin
        while time < end {
            #expect(admitted(count, by: load, at: time) == count)
            time += each
            answer(count, by: load, at: time)
        }
        return time
    }

    @Test("At first so many as are allowed at most; each answer makes room")
    func most() {
        let load = LoadLimit(most: 10)
        #expect(Self.admitted(12, by: load, at: .zero) == 10)
        #expect(load.working == 10 && load.refused == 2)
        Self.answer(3, by: load, at: .milliseconds(10))
        #expect(Self.admitted(5, by: load, at: .milliseconds(20)) == 3)
    }

    @Test("Where requests take longer than a tenth of a second, only so many as are answered in one")
    func slow() {
        let load = LoadLimit(most: 1000)
        // Before the first answer at 600 ms, 800 came: 133 in a tenth of a second.
        let end = Self.work(400, each: .milliseconds(200), by: load, from: .zero, to: .milliseconds(600))
        #expect(Self.admitted(1000, by: load, at: end) == 133)
    }

    @Test("Where the disk is slow, never fewer than 128, or than are allowed at most")
    func floor() {
        for (most, admitted) in [(1000, 128), (100, 100)] {
            let load = LoadLimit(most: most)
            let end = Self.work(50, each: .milliseconds(300), by: load, from: .zero, to: .milliseconds(600))
            #expect(Self.admitted(2000, by: load, at: end) == admitted)
        }
    }

    @Test("Where requests are answered in time the limit rises by a quarter each half second; a pause lifts it at once")
    func rises() {
        let load = LoadLimit(most: 256)
        var end = Self.work(100, each: .milliseconds(200), by: load, from: .zero, to: .milliseconds(600))
        #expect(Self.admitted(300, by: load, at: end) == 128)
        Self.answer(128, by: load, at: end)
        end = Self.work(100, each: .milliseconds(50), by: load, from: end, to: end + .milliseconds(500))
        #expect(Self.admitted(300, by: load, at: end) == 161)
        Self.answer(161, by: load, at: end)
        #expect(Self.admitted(300, by: load, at: end + .seconds(10)) == 256)
    }

    @Test("A fast server takes on more than the most, if it answers more in a tenth of a second")
    func fast() {
        let load = LoadLimit(most: 10)
        var end = Duration.zero
        for _ in 0..<20 {
            end = Self.work(10, each: .milliseconds(5), by: load, from: end, to: end + .milliseconds(500))
        }
        #expect(Self.admitted(1000, by: load, at: end) == 200)
    }

    @Test("The log is told once a second")
    func told() {
        let pace = OncePerSecond()
        let told = [0, 500, 999, 1000, 1999, 2000].filter { pace.isDue(at: Self.start + .milliseconds($0)) }
        #expect(told == [0, 1000, 2000])
    }

    @Test("RFC 9110 §15.6.4: who is refused is told when to come again; health is always told")
    func overHTTP() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.mostLoad = 0 }) { server in
            let refused = try await server.send(.GET, "/v1/users/any")
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            let problem = try JSONValue(parsing: refused.body)
            #expect(problem["code"] == "unavailable" && problem["retry_after"] == 1)
            #expect(problem["request_id"]?.string == refused.headers["x-request-id"])
            #expect(refused.headers["date"] != nil && refused.headers["cache-control"] == "no-store")
            // Each door refuses in its own form.
            let token = try await server.send(.POST, "/oauth2/token", body: Array("{}".utf8), isContract: false)
            #expect(token.status == 503 && token.headers["retry-after"] == "1")
            #expect(try JSONValue(parsing: token.body)["error"] == "temporarily_unavailable")
            let page = try await server.send(.GET, "/oauth2/authorize", isContract: false)
            #expect(page.status == 503 && page.headers["content-type"] == "text/html; charset=utf-8")
            for probe in ["/healthz", "/readyz"] { #expect(try await server.send(.GET, probe).status == 200) }
        }
    }

    @Test("A body that does not come takes no place, nor does a request that waits")
    func slowBodies() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.mostLoad = 1 }) { server in
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
                    var status = 503
                    // Another request may have the place.
                    while status == 503 { status = try await shop.call(.GET, "/v1/challenges/\(id)?wait=50").status }
                    isOver.withLock { $0 = true }
                    return status
                }()
                // While its wait begins, the request has the place.
                var statuses: [Int] = []
                while statuses.last != 200, statuses.count < 1000 {
                    statuses.append(try await shop.call(.GET, "/v1/users/\(user)").status)
                }
                #expect(statuses.last == 200 && !isOver.withLock { $0 })
                #expect(try await shop.call(.DELETE, "/v1/challenges/\(id)").status == 200)
                #expect(try await wait == 200)
            }
        }
    }
}
