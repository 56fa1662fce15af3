import AsyncHTTPClient
import Countersign
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// One challenge, with every step at another node.
@Suite("It does not matter which node is asked", .serialized)
struct AcrossNodesTests {
    /// A phone's transport that sends all requests to one node.
    private struct OneNode: Transport {
        let port: Int
        private let base = URLSessionTransport()

        init(port: Int) {
            self.port = port
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            parts?.port = port
            request.url = parts?.url ?? request.url
            return try await base.send(request)
        }
    }

    @Test(
        "Asked on one, answered on another, waited for and called back from a third, which learn of it by themselves",
        arguments: [("notified", 3.0), ("polled", 5.0)])
    func across(_ wakes: String, _ patience: Double) async throws {
        let server = try PostgresServer()
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        let database = "postgres://countersign@127.0.0.1:\(server.port)/countersign"
        let http = PersistentCaller.makeClient()
        let receiver = CallbackReceiver(random: SeededGenerator(seed: 1))
        let folder = try TemporaryFolder()
        let result = await Result {
            try await receiver.listening { port in
                try await Nodes.with(database: database, arguments: ["--database-wakes", wakes]) { nodes in
                    let scene = try await Scene(
                        keeper: nodes, data: nodes.data, http: http, receiver: receiver, port: port, folder: folder)
                    try await answer(scene, nodes, http, within: .seconds(patience))
                }
            }
        }
        try await http.shutdown()
        try result.get()
    }

    private func answer(_ scene: Scene, _ nodes: Nodes, _ http: HTTPClient, within patience: Duration) async throws {
        let callers = nodes.keepers.map { PersistentCaller(keeper: $0, http: http, ledger: scene.ledger) }
        let earlier = try #require(scene.portals.first)
        // This test has its own user, whose phone calls the second node.
        let (made, _) = try await callers[0].create("/v1/users", .members([:]), key: "across", for: earlier.shop)
        let user = try #require(made["id"]?.string)
        let (ticket, _) = try await callers[2].create(
            "/v1/users/\(user)/enrollment-tickets", .members([:]), key: "across", for: earlier.shop)
        let url = try #require(URL(string: nodes.url))
        let authenticator = try await Authenticator(
            issuer: url, app: AppDescription(name: "Test app", version: "1", deviceName: "Test phone"),
            vault: MemoryVault(), transport: OneNode(port: nodes.keepers[1].port))
        _ = try await authenticator.enroll(with: .ticket(ticket["qr"]?.string ?? ""))
        var announced = authenticator.challenges().makeAsyncIterator()
        let first = Portal(number: 9, shop: earlier.shop, users: [user], caller: callers[0])
        var times: [Duration] = []
        for round in 0..<5 {
            let asked = try await first.ask("across-\(round)", user: user, planned: .approve)
            let path = "/v1/challenges/\(asked.id)?wait=30"
            async let told = callers[2].call(.GET, path, authorization: earlier.shop.authorization)
            // The same request as a stream, repeated at the third node, waits on for what was asked at the first.
            async let streamed = events(of: asked, at: nodes.keepers[2].port, http)
            let begin = ContinuousClock.now
            // The phone waits at the second node for a challenge that is asked at the first.
            let pending = try #require(await announced.next())
            try await pending.open().approve(with: .confirmation, number: asked.number)
            let reply = try await told
            #expect(reply.json["state"] == "approved")
            let events = try await streamed
            #expect(events.map(\.name) == ["asked", "ended"])
            #expect(events.first?.data["id"] == .string(asked.id) && events.last?.data["state"] == "approved")
            #expect(events.last?.data["receipt"]?.string?.contains("decision: approved") == true)
            times.append(ContinuousClock.now - begin)
        }
        await scene.receiver.arrivals(5).wait()
        #expect(times.sorted()[2] < patience, "\(times)")
        print("across nodes: \(times)")
        try await expectSharedLimit(callers)
        #expect(await scene.ledger.violations == [])
        #expect(scene.receiver.violations == [])
    }

    /// Sends the request again for a stream of events, and reads it to its end.
    private func events(
        of asked: Ledger.Asked, at port: Int, _ http: HTTPClient
    ) async throws -> [(name: String, data: JSONValue)] {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/v1/challenges")
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Authorization", asked.shop.authorization), ("Content-Type", "application/json"),
            ("Accept", "text/event-stream"), ("Idempotency-Key", asked.request.key),
        ])
        request.body = .bytes(asked.request.body)
        let reply = try await http.execute(request, timeout: .seconds(60))
        #expect(reply.status == .created && reply.headers.first(name: "Idempotency-Replayed") == "true")
        let text = String(buffer: try await reply.body.collect(upTo: 1 << 20))
        return try text.components(separatedBy: "\n\n").compactMap { event in
            guard let match = event.firstMatch(of: #/event: (\w+)\ndata: (.*)/#) else { return nil }
            return (String(match.output.1), try JSONValue(parsing: Array(match.output.2.utf8)))
        }
    }

    /// Checks that wrong credentials are counted for all nodes together.
    private func expectSharedLimit(_ callers: [PersistentCaller]) async throws {
        var statuses: [Int] = []
        for number in 0..<24 {
            let reply = try await callers[number % 3].call(.GET, "/v1/admin/types", authorization: "Bearer wrong")
            statuses.append(reply.status)
        }
        #expect(statuses == Array(repeating: 401, count: 20) + Array(repeating: 429, count: 4))
    }
}
