import AsyncHTTPClient
import CountersignWire
import Encodings
import Foundation
import GRDB
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("A server that is asked to stop")
struct ShutdownTests {
    /// How long a shutdown may take; waits would last a minute.
    private static let limit = Duration.seconds(25)

    @Test("Long polls end at once: the client is told how the challenge stands, the device to come again")
    func longPolls() async throws {
        let (waits, start) = try await Scene.with { scene in
            let asked = try await scene.ask()
            let client = Task { try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)?wait=60") }
            let cursor =
                try await scene.phone.send(.GET, "/v1/enrollments/self/challenges").json["cursor"]?.string ?? ""
            let device = Task {
                try await scene.phone.send(.GET, "/v1/enrollments/self/challenges?wait=60&cursor=\(cursor)")
            }
            try await letItWait()
            return ((client: client, device: device), ContinuousClock.now)
        }
        let told = try await waits.client.value
        #expect(told.status == 200, "\(told)")
        #expect(told.json["state"] == "pending")
        expectRefusal(try await waits.device.value, 503, "unavailable")
        #expect(start.duration(to: .now) < Self.limit)
    }

    @Test("Event streams end cleanly, after the current state")
    func eventStreams() async throws {
        let (stream, start) = try await Scene.with { scene in
            let asked = try await scene.ask()
            let (begins, begun) = AsyncStream.makeStream(of: Void.self)
            let stream = Task {
                try await scene.shop.stream("/v1/challenges/\(asked.id)/events") { stream in
                    var names: [String?] = []
                    for try await event in stream {
                        names.append(event.name)
                        begun.finish()
                    }
                    return names
                }
            }
            for await _ in begins {}
            return (stream, ContinuousClock.now)
        }
        let names = try await stream.value
        #expect(names.first == "challenge")
        #expect(names.dropFirst().allSatisfy { $0 == nil })
        #expect(start.duration(to: .now) < Self.limit)
    }

    @Test("A stream that asks and waits ends without an end, and the same request waits on where the server runs again")
    func askAndWait() async throws {
        let folder = try TemporaryFolder()
        let (data, port) = (folder.path("data"), FreePort.next())
        let (scene, body, stream, start) = try await TestServer.with(dataFolder: data, port: port) { server in
            let scene = try await Scene.make(server)
            // The servers' clocks go on, and the second one may take its time to start.
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/payment", ["expires_in": 3600]).success()
            let body: JSONValue = ["user": .string(scene.user), "type": "payment", "message": "Pay?"]
            let (begins, begun) = AsyncStream.makeStream(of: Void.self)
            let stream = Task {
                try await scene.shop.stream("/v1/challenges", posting: body, key: "one") { stream in
                    var events: [ServerEvent] = []
                    for try await event in stream {
                        events.append(event)
                        begun.finish()
                    }
                    return events
                }
            }
            for await _ in begins {}
            return (scene, body, stream, ContinuousClock.now)
        }
        let told = try await stream.value
        #expect(start.duration(to: .now) < Self.limit)
        #expect(told.first?.name == "asked" && told.dropFirst().allSatisfy { $0.name == nil }, "\(told)")
        let asked = try #require(told.first?.data)
        let id = try #require(asked["id"]?.string)
        let number = try #require(asked["number"]?.string)
        try await TestServer.with(dataFolder: data, port: port) { server in
            let shop = server.caller(scene.shop.authorization)
            try await shop.stream("/v1/challenges", posting: body, key: "one") { stream in
                #expect(stream.headers["idempotency-replayed"] == "true")
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.data == asked)
                #expect(try await scene.approve((id, number)).status == 200)
                let ended = try #require(try await events.next())
                #expect(ended.name == "ended" && ended.data?["state"] == "approved")
                #expect(ended.data?["receipt"]?.string != nil)
                #expect(try await events.next() == nil)
            }
        }
    }

    @Test("A request that has begun to arrive is still answered, and no other is taken")
    func requestInFlight() async throws {
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let serve = { try await sendingAtTheEnd(dataFolder: data) }
        let sending = try await TestDatabases.$isSQLite.withValue(true, operation: serve)
        let (status, body) = try await sending.value
        #expect(status == 201)
        let made = try JSONValue(parsing: Array(body.readableBytesView))
        #expect(made["external_id"] == "customer-1")
        // It was done, not only answered.
        let database = try DatabaseQueue(path: "\(data)/countersign.sqlite")
        let users = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM users") }
        #expect(users == 1)
    }

    /// Serves until the head and a part of the body of a request have arrived, and returns when the server has ended.
    private func sendingAtTheEnd(dataFolder data: String) async throws -> Task<(Int, ByteBuffer), any Error> {
        try await TestServer.with(dataFolder: data) { server in
            let shop = try await server.makeClient()
            let body = Array(#"{"external_id":"customer-1"}"#.utf8)
            let (chunks, send) = AsyncStream.makeStream(of: ByteBuffer.self)
            let (pulls, pulled) = AsyncStream.makeStream(of: Void.self)
            var request = HTTPClientRequest(url: server.issuer.uri("/v1/users"))
            request.method = .POST
            request.headers.add(name: "Authorization", value: shop.authorization)
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .stream(
                chunks.map { chunk in
                    pulled.finish()
                    return chunk
                }, length: .known(Int64(body.count)))
            let sending = Task { [request] in
                let response = try await TestHTTP.client.execute(request, timeout: .seconds(60))
                return (Int(response.status.code), try await response.body.collect(upTo: 1 << 16))
            }
            send.yield(ByteBuffer(bytes: body.prefix(10)))
            for await _ in pulls {}
            try await letItWait()
            // The rest comes when nobody else is let in any more.
            Task {
                while Self.accepts(server.issuer) { try await Task.sleep(for: .milliseconds(20)) }
                send.yield(ByteBuffer(bytes: body.dropFirst(10)))
                send.finish()
            }
            return sending
        }
    }

    /// Whether somebody listens where a server of this issuer does.
    private static func accepts(_ issuer: Issuer) -> Bool {
        guard let port = issuer.description.split(separator: ":").last.flatMap({ UInt16($0) }) else { return false }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
        }
    }
}
