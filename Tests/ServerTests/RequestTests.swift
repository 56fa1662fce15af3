import Foundation
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Requests as such")
struct RequestTests {
    /// Every route of clients and operators that reads a body, with a body it accepts.
    private static func routes(_ scene: Scene) -> [(caller: Caller, HTTPMethod, String, JSONValue)] {
        [
            (scene.shop, .POST, "/v1/challenges", ["user": .string(scene.user), "type": "payment", "message": "Pay?"]),
            (scene.shop, .POST, "/v1/users", [:]),
            (scene.shop, .PATCH, "/v1/users/\(scene.user)", [:]),
            (scene.shop, .POST, "/v1/users/\(scene.user)/enrollment-tickets", [:]),
            (scene.administrator, .POST, "/v1/admin/clients", ["name": "ACME Shop"]),
            (scene.administrator, .PUT, "/v1/admin/types/payment", [:]),
        ]
    }

    @Test("RFC 8259, RFC 7493 §2: a body that is not strict JSON is 400 malformed_json on every route")
    func malformed() async throws {
        let bodies = [
            "{", "}", "{}x", "{} {}", "{\"a\":1,}", "{'a':1}", "{a:1}", "{\"a\":01}", "{\"a\":NaN}", "{\"a\":1e999}",
            "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\\ud800\"}", "// {}", "tru",
            "\u{FEFF}{}", "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "{\"a\":{\"b\":1,\"b\":2}}", " ",
            "{\"a\":\(String(repeating: "[", count: 32))\(String(repeating: "]", count: 32))}",
            String(repeating: "[", count: 100_000),
        ]
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for (caller, method, path, _) in Self.routes(scene) {
                for body in bodies {
                    let reply = try await caller.send(method, path, body: Array(body.utf8))
                    expectRefusal(reply, 400, "malformed_json", at: nil, String(body.prefix(40)))
                }
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 8259 §8.1: a body that is not UTF-8 is 400 invalid_utf8 on every route")
    func invalidUTF8() async throws {
        let texts: [[UInt8]] = [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80],
        ]
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for (caller, method, path, _) in Self.routes(scene) {
                for text in texts {
                    let body = Array("{\"a\":\"".utf8) + text + Array("\"}".utf8)
                    expectRefusal(try await caller.send(method, path, body: body), 400, "invalid_utf8")
                }
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("A body that is JSON and no object is 422 at the document itself")
    func noObject() async throws {
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for (caller, method, path, _) in Self.routes(scene) {
                for body in [[], "{}", 1, true, .null] as [JSONValue] {
                    expectRefusal(try await caller.call(method, path, body), 422, "invalid_member", at: "")
                }
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 6901 §3: a member nobody knows is 422 unknown_member with its pointer, on every route")
    func unknownMember() async throws {
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for (caller, method, path, body) in Self.routes(scene) {
                for (name, pointer) in [("mesage", "/mesage"), ("", "/"), ("a/b~c", "/a~1b~0c"), ("ID", "/ID")] {
                    var object = try #require(body.object)
                    object[name] = 1
                    let reply = try await caller.call(method, path, .object(object))
                    expectRefusal(reply, 422, "unknown_member", at: pointer)
                }
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("256 KiB are read, one byte more is 413 on every route, whether its length was told or not")
    func oversize() async throws {
        let limit = 256 * 1024
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for (caller, method, path, body) in Self.routes(scene) {
                let bytes = body.encoded + [UInt8](repeating: 0x20, count: limit + 1 - body.encoded.count)
                for isChunked in [false, true] {
                    let reply = try await caller.send(method, path, body: bytes, isChunked: isChunked)
                    expectRefusal(reply, 413, "body_too_large")
                }
            }
            let unread = try await scene.server.send(
                .GET, "/healthz", body: [UInt8](repeating: 0x20, count: limit + 1))
            expectRefusal(unread, 413, "body_too_large")
            #expect(try await scene.snapshot() == before)
            for isChunked in [false, true] {
                let body = Array("{}".utf8) + [UInt8](repeating: 0x20, count: limit - 2)
                let reply = try await scene.shop.send(
                    .PATCH, "/v1/users/\(scene.user)", body: body, isChunked: isChunked)
                #expect(reply.status == 200, "\(reply)")
            }
        }
    }

    @Test("A query parameter nobody knows is 400 on every route there is, so that a typo never passes silently")
    func unknownParameter() async throws {
        try await Scene.with { scene in
            let challenge = try await scene.ask().id
            let before = try await scene.snapshot()
            for operation in Contract.served.operations {
                let path = operation.path.replacing("{user}", with: scene.user).replacing(
                    "{challenge}", with: challenge
                ).replacing("{enrollment}", with: "\(scene.phone.enrollment)").replacing("{type}", with: "payment")
                    .replacing("{method}", with: "pin")
                let method = HTTPMethod(rawValue: operation.method)
                let isOfDevices = operation.value["security"]?.array?.contains { $0["deviceSignature"] != nil } ?? false
                func send(_ query: String) async throws -> Reply {
                    isOfDevices
                        ? try await scene.phone.send(method, "\(path)?\(query)")
                        : try await scene.administrator.call(method, "\(path)?\(query)")
                }
                for name in ["typo", "Wait", "wait%20"] {
                    let reply = try await send("\(name)=1")
                    expectRefusal(reply, 400, "invalid_parameter")
                    #expect(reply.json["parameter"] == .string(name.removingPercentEncoding ?? ""))
                }
                for query in ["%FF=1", "wait=%C0%80", "wait=1&wait=1", "=&="] {
                    expectRefusal(try await send(query), 400, "invalid_parameter", at: nil, query)
                }
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 3986 §2.1: percent-encodings in a path are decoded once, whatever the case of their digits")
    func percentEncodings() async throws {
        try await Scene.with { scene in
            let user = try await scene.shop.makeUser("50% off: ä/b")
            for path in ["external_id:50%25%20off:%20%C3%A4%2Fb", "%65xternal%5fid%3A50%25%20off:%20%c3%a4%2fb"] {
                let reply = try await scene.shop.call(.GET, "/v1/users/\(path)")
                #expect(reply.json["id"] == .string(user), "\(reply)")
            }
            let twice = try await scene.shop.call(.GET, "/v1/users/external_id:50%2525%20off:%20%C3%A4%2Fb")
            expectRefusal(twice, 404, "user_not_found")
        }
    }

    @Test("A query parameter with a wrong value is 400 and named")
    func wrongParameter() async throws {
        try await Scene.with { scene in
            let challenge = "/v1/challenges/\(try await scene.ask().id)"
            func expectRefused(_ caller: Caller, _ path: String, _ name: String, _ values: [String]) async throws {
                for value in values {
                    let reply = try await caller.call(.GET, "\(path)?\(name)=\(value)")
                    expectRefusal(reply, 400, "invalid_parameter", at: nil, value)
                    #expect(reply.json["parameter"] == .string(name))
                }
            }
            try await expectRefused(
                scene.shop, challenge, "wait", ["-1", "61", "1.5", "abc", "", "%201", "0x10", "99999999999999999999"])
            try await expectRefused(scene.shop, "\(challenge)/receipt", "format", ["pgp", "", "Certificate"])
            try await expectRefused(
                scene.administrator, "/v1/admin/events", "cursor", ["-1", "abc", "", "1.5", "99999999999999999999"])
        }
    }

    @Test("RFC 9110 §15.5.5: a path that is no route is 404 not_found")
    func unknownPath() async throws {
        let paths = [
            "/", "/v1", "/v1/nowhere", "/v2/challenges", "/v1/challenges/a/b", "/v1/challenges/a/receipt/b", "/docs",
            "/v1/enrollments/other", "/v1/admin", "/V1/challenges", "/healthz/x", "/v1/challenges/../users",
        ]
        try await TestServer.with { server in
            for path in paths {
                expectRefusal(try await server.send(.GET, path), 404, "not_found", at: nil, path)
                expectRefusal(try await server.administrator.call(.POST, path, [:]), 404, "not_found", at: nil, path)
            }
        }
    }

    @Test("RFC 9110 §15.5.6: every other method on every path is 405 with the methods that work")
    func wrongMethod() async throws {
        try await TestServer.with { server in
            for (path, operations) in Dictionary(grouping: Contract.served.operations, by: \.path) {
                let known = operations.map(\.method).sorted()
                let methods: [HTTPMethod] = [.GET, .HEAD, .POST, .PUT, .PATCH, .DELETE, .OPTIONS, .TRACE]
                for method in methods where !known.contains(method.rawValue) {
                    let reply = try await server.send(method, path.replacing("{", with: "").replacing("}", with: ""))
                    #expect(reply.status == 405, "\(reply)")
                    #expect(reply.headers["allow"] == known.joined(separator: ", "))
                    // Spec: RFC 9110 §9.3.2: no body follows a HEAD, or it would be read as the next reply.
                    #expect(method == .HEAD ? reply.body.isEmpty : reply.code == "method_not_allowed", "\(reply)")
                }
            }
        }
    }

    @Test("RFC 9110 §6.6.1: every reply tells when it was made, by the server's clock, in the one form of dates")
    func date() async throws {
        try await TestServer.with { server in
            let form = DateFormatter()
            form.locale = Locale(identifier: "en_US_POSIX")
            form.timeZone = TimeZone(identifier: "GMT")
            form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            for _ in 0..<3 {
                try await server.clock.stopped { second in
                    let expected = form.string(from: Date(timeIntervalSince1970: Double(second)))
                    for path in ["/healthz", "/nowhere", "/readyz"] {
                        let reply = try await server.send(.GET, path)
                        #expect(reply.headers["date"] == expected)
                    }
                }
                server.clock.advance(seconds: 40 * 86_400 + 3_661)
            }
        }
    }

    @Test("Every reply has a request id of its own, the problem's body the same one, and no cache may keep it")
    func requestIDs() async throws {
        try await Scene.with { scene in
            let challenge = try await scene.ask().id
            var replies: [Reply] = []
            for operation in Contract.served.operations where operation.method == "GET" {
                let path = operation.path.replacing("{challenge}", with: challenge).replacing(
                    "{user}", with: scene.user)
                if !operation.path.hasSuffix("/events") || operation.path.hasPrefix("/v1/admin") {
                    replies.append(try await scene.administrator.call(.GET, path))
                }
                replies.append(try await scene.server.send(.GET, path + "?typo"))
                replies.append(try await scene.server.send(.OPTIONS, path))
            }
            replies.append(try await scene.server.send(.GET, "/nowhere"))
            var ids: Set<String> = []
            for reply in replies {
                let id = try #require(reply.headers["x-request-id"])
                #expect(ids.insert(id).inserted, "\(reply)")
                #expect(reply.headers["cache-control"] == "no-store", "\(reply)")
                guard reply.status >= 400 else { continue }
                #expect(reply.headers["content-type"] == "application/problem+json", "\(reply)")
                #expect(reply.json["request_id"] == .string(id), "\(reply)")
                #expect(
                    reply.json["type"]
                        == .string("\(scene.server.issuer)/docs/errors#\(reply.code ?? "")"), "\(reply)")
            }
            #expect(ids.count == replies.count)
        }
    }
}
