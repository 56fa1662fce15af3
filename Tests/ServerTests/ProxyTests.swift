import CountersignServer
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("A server behind proxies, and one that is not")
struct ProxyTests {
    /// Runs something with a server that believes the proxies of this machine, or nobody.
    private func serving(
        trusting networks: [String], by header: ProxyHeader = .xForwardedFor,
        _ body: @escaping @Sendable (TestServer, LogBook) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        let proxies = TrustedProxies(networks: networks.compactMap { Network($0) }, header: header)
        try await TestServer.with(
            dataFolder: folder.path("data"), logger: log.logger, settings: { $0.proxies = proxies }
        ) { try await body($0, log) }
    }

    private func access(_ log: LogBook) -> [String] { log.entries.filter { $0.hasPrefix("info request") } }

    @Test("Behind a trusted proxy the log names the caller, and the request keeps the proxy's id")
    func trusted() async throws {
        try await serving(trusting: ["127.0.0.0/8"]) { server, log in
            let headers = [("X-Forwarded-For", "198.51.100.7, 192.0.2.1"), ("X-Request-Id", "proxy-1.a_B")]
            let reply = try await server.send(.GET, "/v1/admin/clients", headers: headers)
            expectRefusal(reply, 401, "unauthorized")
            #expect(reply.headers["x-request-id"] == "proxy-1.a_B")
            #expect(reply.json["request_id"] == "proxy-1.a_B")
            let line = try #require(access(log).last)
            #expect(line.contains(" from=192.0.2.1 ") && line.contains(" request=proxy-1.a_B "))
        }
    }

    @Test("RFC 7239 §4: a Forwarded that cannot be read is 400, and hides nobody behind the proxy's address")
    func unreadableForwarded() async throws {
        try await serving(trusting: ["127.0.0.0/8"], by: .forwarded) { server, log in
            let port = "\(server.issuer)".split(separator: ":").last ?? ""
            for field in ["for=203.0.113.9:\"", "for=203.0.113.9:\", for=198.51.100.7"] {
                let reply = try await RawConnection.exchange(
                    server, "GET /healthz HTTP/1.1", "Host: 127.0.0.1:\(port)", "Forwarded: \(field)")
                #expect(reply.statuses == ["400"])
                #expect(reply.json["code"] == "malformed_request")
                #expect(reply.json["detail"] == "Forwarded is malformed")
            }
            #expect(!log.entries.contains { $0.contains("203.0.113.9") })
        }
    }

    @Test("Nobody else is believed: neither the address nor the id")
    func untrusted() async throws {
        try await serving(trusting: ["10.0.0.0/8"]) { server, log in
            let headers = [("X-Forwarded-For", "192.0.2.1"), ("X-Request-Id", "forged-1")]
            let reply = try await server.send(.GET, "/readyz", headers: headers)
            #expect(reply.headers["x-request-id"]?.hasPrefix("req_") == true)
            #expect(access(log).last?.contains(" from=127.0.0.1 ") == true)
            #expect(!log.entries.contains { $0.contains("192.0.2.1") || $0.contains("forged-1") })
        }
    }

    @Test(
        "An id that could be mistaken in a log is replaced",
        arguments: ["", " ", "a b", "a=b", "a\"b", "ä", "req/1", String(repeating: "a", count: 65)])
    func malformedID(_ id: String) async throws {
        try await serving(trusting: ["127.0.0.1"]) { server, _ in
            let reply = try await server.send(.GET, "/readyz", headers: [("X-Request-Id", id)])
            #expect(reply.headers["x-request-id"]?.hasPrefix("req_") == true)
        }
    }

    @Test(
        "Behind a proxy each caller has a limit of its own for wrong credentials; a caller that lies about it has not")
    func limits() async throws {
        try await serving(trusting: ["127.0.0.1"]) { server, _ in
            var last: [Int] = []
            // What a caller writes in front of what the proxy appends does not make it another caller.
            for (forwarded, count) in [
                ("192.0.2.1", 100), ("192.0.2.1", 1), ("192.0.2.2", 1), ("198.51.100.7, 192.0.2.1", 1),
            ] {
                var status = 0
                for _ in 0..<count {
                    let headers = [("Authorization", "Basic eDp5"), ("X-Forwarded-For", forwarded)]
                    status = try await server.send(.GET, "/v1/admin/clients", headers: headers).status
                }
                last.append(status)
            }
            #expect(last == [401, 429, 401, 429])
        }
    }

    @Test("The bootstrap token stays with callers of this machine, whatever a trusted proxy says")
    func bootstrapToken() async throws {
        try await serving(trusting: ["127.0.0.1"]) { server, _ in
            for address in ["192.0.2.1", "127.0.0.1", "::1"] {
                let reply = try await server.send(
                    .GET, "/v1/admin/clients",
                    headers: [("Authorization", "Bearer \(server.token)"), ("X-Forwarded-For", address)])
                expectRefusal(reply, 401, "unauthorized")
            }
            #expect(try await server.administrator.call(.GET, "/v1/admin/clients").status == 200)
        }
    }

    @Test("The log names routes, not paths: no id, no query, nothing a caller wrote")
    func routes() async throws {
        try await serving(trusting: []) { server, log in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser("customer-1")
            _ = try await shop.call(.GET, "/v1/users/\(user)")
            _ = try await server.send(.GET, "/secret/path?token=abc")
            let lines = access(log)
            #expect(lines.contains { $0.contains(" method=GET ") && $0.contains(" route=/v1/users/{user} ") })
            #expect(lines.contains { $0.contains(" route=none ") && $0.contains(" status=404") })
            #expect(!lines.contains { $0.contains(user) || $0.contains("secret") || $0.contains("token") })
        }
    }
}
