import AsyncHTTPClient
import CountersignServer
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("The metrics count what happens")
struct MetricsTests {
    /// The samples of the page: name and labels, and the value.
    private static func samples(_ port: Int) async throws -> [String: Double] {
        let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics")
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(30))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect(response.status == .ok)
        var samples: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let end = try #require(line.lastIndex(of: " "))
            let value = try #require(Double(line[line.index(after: end)...]))
            #expect(samples.updateValue(value, forKey: String(line[..<end])) == nil, "\(line) stands there twice")
        }
        return samples
    }

    /// Runs something with a scene whose server tells its metrics on a port.
    private func serving(_ body: @escaping @Sendable (Scene, Int) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        let address = ListenAddress("127.0.0.1:\(port)")
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.metrics = address }) { server in
            try await body(try await Scene.make(server), port)
        }
    }

    @Test("Challenges by outcome, requests by route, refusals by code, commits and the outbox")
    func everything() async throws {
        try await serving { scene, port in
            let before = try await Self.samples(port)
            let asked = try await scene.ask()
            _ = try await scene.approve(asked)
            let second = try await scene.ask()
            _ = try await scene.shop.call(.DELETE, "/v1/challenges/\(second.id)")
            _ = try await scene.server.send(.GET, "/v1/admin/clients")
            _ = try await scene.server.send(.GET, "/a/path/of/nobody")
            let after = try await Self.samples(port)
            func grown(_ name: String) -> Double { (after[name] ?? -1) - (before[name] ?? 0) }
            #expect(grown("countersign_events_total{event=\"challenge.asked\"}") == 2)
            #expect(grown("countersign_events_total{event=\"challenge.approved\"}") == 1)
            #expect(grown("countersign_events_total{event=\"challenge.cancelled\"}") == 1)
            #expect(grown("countersign_events_total{event=\"challenge.expired\"}") == 0)
            let ask = "route=\"/v1/challenges\",method=\"POST\""
            #expect(grown("countersign_http_requests_total{\(ask),status=\"201\"}") == 2)
            #expect(grown("countersign_http_request_duration_seconds_count{\(ask)}") == 2)
            #expect(grown("countersign_http_request_duration_seconds_bucket{\(ask),le=\"+Inf\"}") == 2)
            #expect(grown("countersign_http_request_duration_seconds_sum{\(ask)}") > 0)
            #expect(grown("countersign_http_requests_total{route=\"none\",method=\"GET\",status=\"404\"}") == 1)
            #expect(grown("countersign_refusals_total{code=\"unauthorized\"}") == 1)
            #expect(grown("countersign_refusals_total{code=\"not_found\"}") == 1)
            #expect(grown("countersign_refusals_total{code=\"rate_limited\"}") == 0)
            #expect(grown("countersign_commits_total") >= 3)
            // A write begins and ends a transaction, and changes something between.
            #expect(grown("countersign_statements_total") >= 3 * grown("countersign_writes_total"))
            #expect(grown("countersign_writes_total") >= grown("countersign_commits_total"))
            #expect(after["countersign_database_readable"] == 1)
            #expect(after["countersign_outbox_messages"] == 0)
            #expect(after["countersign_waiting_requests"] == 0)
            #if os(Linux)
                #expect((after["process_resident_memory_bytes"] ?? 0) > 1e6)
                #expect((after["process_open_fds"] ?? 0) > 5)
                #expect((after["process_start_time_seconds"] ?? 0) > 1.7e9)
            #endif
        }
    }

    @Test("A bucket holds what the smaller ones hold, and the largest is the count")
    func buckets() async throws {
        try await serving { scene, port in
            for _ in 0..<5 { _ = try await scene.server.send(.GET, "/readyz") }
            let samples = try await Self.samples(port)
            let labels = "route=\"/readyz\",method=\"GET\""
            let bounds = [
                "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0",
                "+Inf",
            ]
            let buckets = bounds.map {
                samples["countersign_http_request_duration_seconds_bucket{\(labels),le=\"\($0)\"}"] ?? -1
            }
            #expect(buckets == buckets.sorted() && buckets[0] >= 0)
            #expect(buckets.last == 5)
        }
    }

    @Test("A request that waits is counted while it waits, and not among how long requests take")
    func waiting() async throws {
        try await serving { scene, port in
            let asked = try await scene.ask()
            async let waiting = scene.shop.call(.GET, "/v1/challenges/\(asked.id)?wait=60")
            while try await Self.samples(port)["countersign_waiting_requests"] != 1 { await Task.yield() }
            _ = try await scene.approve(asked)
            #expect(try await waiting.json["state"] == "approved")
            let samples = try await Self.samples(port)
            #expect(samples["countersign_waiting_requests"] == 0)
            let labels = "route=\"/v1/challenges/{challenge}\",method=\"GET\""
            #expect(samples["countersign_http_requests_total{\(labels),status=\"200\"}"] == 1)
            #expect(samples["countersign_http_request_duration_seconds_count{\(labels)}"] == 0)
        }
    }

    @Test("A delivery that fails is counted, and the message waits in the outbox and grows old")
    func outbox() async throws {
        try await serving { scene, port in
            // Nobody listens there.
            let callback = "http://127.0.0.1:9/hook"
            let shop = try await scene.server.makeClient("Rival", ["callback_uris": [.string(callback)]])
            let user = try await shop.makeUser("customer-2")
            let phone = try await TestPhone.enrolled(for: user, by: shop, at: scene.server)
            let rival = Scene(server: scene.server, shop: shop, user: user, phone: phone)
            _ = try await rival.approve(try await rival.ask(["callback_uri": .string(callback)]))
            let failed = "countersign_deliveries_total{kind=\"callback\",outcome=\"failed\"}"
            while try await Self.samples(port)[failed] != 1 { await Task.yield() }
            #expect(try await Self.samples(port)["countersign_outbox_messages"] == 1)
            scene.server.clock.advance(seconds: 1)
            #expect((try await Self.samples(port)["countersign_outbox_oldest_age_seconds"] ?? 0) >= 1)
            #expect(try await Self.samples(port)["countersign_sign_in_work_level"] == 0)
        }
    }

    @Test("What callers write makes no new series: not paths, not methods")
    func boundedSeries() async throws {
        try await serving { scene, port in
            for number in 0..<20 { _ = try await scene.server.send(.GET, "/path/\(number)") }
            for method in ["BREW", "PROPFIND", "X1", "X2"] {
                var request = HTTPClientRequest(url: scene.server.issuer.uri("/readyz"))
                request.method = .RAW(value: method)
                #expect(try await TestHTTP.client.execute(request, timeout: .seconds(30)).status.code >= 400)
            }
            let names = try await Self.samples(port).keys.filter { $0.hasPrefix("countersign_http_requests_total") }
            #expect(names.count { $0.contains("route=\"none\"") } <= 2, "\(names.sorted())")
            #expect(!names.contains { $0.contains("PROPFIND") || $0.contains("BREW") || $0.contains("path") })
        }
    }
}
