import CountersignServer
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("What reaches a route, and what is refused before", .timeLimit(.minutes(10)))
struct EdgeTests {
    @Test("RFC 3986 §3.3: a path with an empty segment or one of dots, plain or encoded, is 404 also for operators")
    func paths() async throws {
        let paths = [
            "//v1/admin/clients", "/v1//admin/clients", "/v1/admin//clients", "/v1/admin/clients/", "/healthz/", "//",
            "/./v1/admin/clients", "/v1/./admin/clients", "/v1/users/../admin/clients", "/v1/%2e/admin/clients",
            "/v1/users/%2E%2e/admin/clients", "/v1/users/.%2e/admin/clients", "/v1/admin/clients/.",
            "/%76%31/admin/clients", "/v1/%61dmin/clients", "/v1%2Fadmin%2Fclients", "/v1/admin%2fclients",
        ]
        try await TestServer.with { server in
            let plain = try await ask(server, "GET /v1/admin/clients HTTP/1.1")
            #expect(plain.statuses == ["200"])
            for path in paths {
                let reply = try await ask(server, "GET \(path) HTTP/1.1")
                #expect(reply.statuses == ["404"], "\(path)")
                #expect(reply.json["code"] == "not_found", "\(path)")
            }
        }
    }

    private func ask(_ server: TestServer, _ line: String) async throws -> RawConnection.Replies {
        try await RawConnection.exchange(
            server, line, "Host: a", "Authorization: Bearer \(server.token)", "Connection: close")
    }

    @Test("A slash and dots in a parameter are data: external ids may hold them, and they lead nowhere else")
    func slashes() async throws {
        try await TestServer.with { server in
            let shop = try await server.makeClient()
            for id in ["a/b", "../admin/clients", "/", "..", "a//b", "."] {
                let user = try await shop.makeUser(id)
                let encoded = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let reply = try await shop.call(.GET, "/v1/users/external_id:\(encoded)")
                #expect(reply.json["id"] == .string(user), "\(reply)")
            }
        }
    }

    @Test(
        "RFC 9110 §15.5.6: methods that no route has are 405 as well, with the methods that work; 404 without a route")
    func methods() async throws {
        try await TestServer.with { server in
            for method in ["PROPFIND", "MKCOL", "PURGE", "REPORT", "LOCK", "TRACE"] {
                let known = try await ask(server, "\(method) /v1/users/a HTTP/1.1")
                #expect(known.statuses == ["405"], "\(method)")
                #expect(known.json["code"] == "method_not_allowed")
                #expect(known.field("allow") == "DELETE, GET, PATCH", "\(method)")
                let unknown = try await ask(server, "\(method) /v1/nowhere HTTP/1.1")
                #expect(unknown.statuses == ["404"], "\(method)")
            }
        }
    }

    @Test(
        "RFC 9112 §3.2: without one field Host that is an authority a request is 400, with a request id",
        arguments: [
            [], ["Host: a", "Host: a"], ["Host: a", "host: b"], ["Host: a b"], ["Host: a/b"], ["Host: http://a"],
            ["Host: a@b"], ["Host: [::1"], ["Host: a:b"], ["Host: a, b"],
        ])
    func hosts(_ fields: [String]) async throws {
        // Spec: RFC 3986 §3.2.2 and §3.2.3.
        try await TestServer.with { server in
            let lines = ["GET /healthz HTTP/1.1"] + fields
            let reply = try await RawConnection.exchange(
                server, Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
            try expectRefused(reply, "malformed_request")
        }
    }

    @Test("RFC 9112 §3.2.1, §3.2.2, §3.2.4: a target is a path or a URL in visible ASCII")
    func targets() async throws {
        try await TestServer.with { server in
            for target in ["/healthz", "http://a/healthz", "HTTPS://[::1]:8443/healthz", "/healthz?"] {
                let reply = try await ask(server, "GET \(target) HTTP/1.1")
                #expect(reply.statuses == ["200"], "\(target)")
            }
            for target in ["healthz", "ftp://a/healthz", "http://a b/", "/healthz#a", "/\u{E4}", "http:///healthz"] {
                let reply = try await RawConnection.exchange(server, "GET \(target) HTTP/1.1", "Host: a")
                try expectRefused(reply, "malformed_request")
            }
            let old = try await RawConnection.exchange(server, "GET /healthz HTTP/1.0")
            #expect(old.statuses == ["200"])
        }
    }

    @Test("RFC 9112 §2.2: what is no HTTP is 400 with a request id, after the replies to what came before it")
    func unreadable() async throws {
        try await TestServer.with { server in
            let request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
            for nonsense in [
                "\u{16}\u{3}\u{1}\u{2}\u{0}", "SAY hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            ] {
                let alone = try await RawConnection.exchange(server, Array(nonsense.utf8))
                try expectRefused(alone, "malformed_request")
                let mixed = try await RawConnection.exchange(server, Array((request + request + nonsense).utf8))
                #expect(mixed.statuses == ["200", "200", "400"])
                #expect(mixed.json["code"] == "malformed_request")
            }
        }
    }

    /// Expects a problem with a request id, and the end of the connection.
    private func expectRefused(
        _ reply: RawConnection.Replies, _ code: String, location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(reply.statuses == ["400"], "\(reply.text)", sourceLocation: location)
        #expect(reply.json["code"] == .string(code), sourceLocation: location)
        #expect(reply.field("content-type") == "application/problem+json", sourceLocation: location)
        let id = try #require(reply.field("x-request-id"), sourceLocation: location)
        #expect(reply.json["request_id"] == .string(id), sourceLocation: location)
        #expect(reply.field("connection") == "close", sourceLocation: location)
    }

    @Test("RFC 9110 §15.5.14: after 413 the connection ends, whatever is still sent; the reply arrives")
    func tooLarge() async throws {
        // Spec: RFC 9112 §9.6.
        try await TestServer.with { server in
            let head = "POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n"
            let reply = try await RawConnection.exchange(
                server, Array(head.utf8) + [UInt8](repeating: 0x20, count: 2_000_000))
            #expect(reply.statuses == ["413"])
            #expect(reply.field("connection") == "close")
        }
    }

    @Test("RFC 9110 §15.5.9: a body that has not come 30 seconds after its head is 408, and the connection ends")
    func tooSlow() async throws {
        try await TestServer.with { server in
            let start = ContinuousClock.now
            let reply = try await RawConnection.exchange(
                server, "POST /v1/users HTTP/1.1", "Host: a", "Content-Length: 100", "", "{")
            #expect(reply.statuses == ["408"], "\(reply.text)")
            #expect(reply.json["code"] == "body_too_slow")
            #expect(reply.field("connection") == "close")
            #expect(start.duration(to: .now) > .seconds(28))
        }
    }

    @Test("Requests that are sent at once are answered one after the other, all of them")
    func pipelined() async throws {
        try await TestServer.with { server in
            let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
            let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let reply = try await RawConnection.exchange(
                server, Array((String(repeating: request, count: 59) + last).utf8))
            #expect(reply.statuses == [String](repeating: "200", count: 60))
        }
    }

    @Test("A caller who hangs up during a wait frees its place, also with more requests behind the one that waits")
    func hangUp() async throws {
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        let address = ListenAddress("127.0.0.1:\(port)")
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.metrics = address }) { server in
            let scene = try await Scene.make(server)
            let path = "/v1/challenges/\(try await scene.ask().id)?wait=60"
            let request = "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: \(scene.shop.authorization)\r\n\r\n"
            let channel = try await RawConnection.connect(to: server)
            try await channel.executeThenClose { _, outbound in
                try await outbound.write(ByteBuffer(string: request + request))
                while try await !TLSWaitTests.waiting(port) { await Task.yield() }
            }
            let start = ContinuousClock.now
            while try await TLSWaitTests.waiting(port) { await Task.yield() }
            #expect(start.duration(to: .now) < .seconds(20))
        }
    }

    @Test("Who comes after as many connections as there may be waits until one ends")
    func total() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.connections = ConnectionLimits(total: 4, perAddress: 1) }
        ) { server in
            var open: [NIOAsyncChannel<ByteBuffer, ByteBuffer>] = []
            // As many as are accepted at a time may come on top.
            for _ in 0..<8 { open.append(try await RawConnection.connect(to: server)) }
            async let late = RawConnection.exchange(server, "GET /healthz HTTP/1.1", "Host: a", "Connection: close")
            try await letItWait()
            for channel in open { try await channel.executeThenClose { _, _ in } }
            #expect(try await late.statuses == ["200"])
        }
    }
}
