import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("RFC 9110 §8 and §12: what is sent and understood, whatever the fields say")
struct RepresentationTests {
    @Test(
        "RFC 9110 §12.5.1: whatever a caller accepts, it gets JSON, also for a problem",
        arguments: ["text/html", "application/xml;q=1.0", "*/*;q=0", "nonsense", "application/json;version=7"])
    func accept(_ accept: String) async throws {
        try await TestServer.with { server in
            let done = try await server.send(.GET, "/healthz", headers: [("Accept", accept)])
            #expect(done.status == 200)
            #expect(done.headers["content-type"] == "application/json")
            let refused = try await server.send(.GET, "/nowhere", headers: [("Accept", accept)])
            #expect(refused.status == 404)
            #expect(refused.headers["content-type"] == "application/problem+json")
        }
    }

    @Test("A body is read as JSON and as nothing else, whatever it says it is")
    func contentType() async throws {
        try await Scene.with { scene in
            func send(_ type: String?, _ body: String) async throws -> Reply {
                let fields = [("Authorization", scene.shop.authorization)] + (type.map { [("Content-Type", $0)] } ?? [])
                return try await scene.server.send(.POST, "/v1/users", headers: fields, body: Array(body.utf8))
            }
            let types = [
                nil, "application/json", "application/json; charset=utf-8", "text/plain", "application/xml",
                "application/x-www-form-urlencoded", "application/json; charset=iso-8859-1",
            ]
            for (index, type) in types.enumerated() {
                #expect(try await send(type, #"{"external_id":"kündin-\#(index)"}"#).status == 201)
            }
            let before = try await scene.snapshot()
            for (type, body) in [
                ("application/x-www-form-urlencoded", "external_id=a"),
                (
                    "multipart/form-data; boundary=x",
                    "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--"
                ),
                ("application/xml", "<external_id>a</external_id>"), ("application/json", "external_id: a"),
            ] {
                expectRefusal(try await send(type, body), 400, "malformed_json", at: nil, type)
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 9110 §9.3.2: HEAD gets the status and fields, and no body that would be read as the next reply")
    func head() async throws {
        try await TestServer.with { server in
            for path in ["/healthz", "/v1/challenges", "/nowhere"] {
                let reply = try await server.send(.HEAD, path)
                #expect(reply.status >= 400, "\(reply)")
                #expect(reply.body.isEmpty)
                // On the same connection, if the client keeps it.
                #expect(try await server.send(.GET, "/healthz").json["status"] == "ok")
            }
        }
    }

    @Test("RFC 9457: every page a problem's type names is there and tells of the code")
    func documentation() async throws {
        try await TestServer.with { server in
            let problem = try await server.send(.GET, "/nowhere")
            let type = try #require(problem.json["type"]?.string)
            #expect(type == "\(server.issuer)/docs/errors#not_found")
            let page = try await server.send(.GET, "/docs/errors")
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            let text = String(decoding: page.body, as: UTF8.self)
            let schemas = Contract.served.document["components"]?["schemas"]?.object?.members ?? []
            let codes = schemas.compactMap { $0.value["properties"]?["code"]?["const"]?.string }
            #expect(codes.count > 40)
            for code in codes { #expect(text.contains("id=\"\(code)\""), "\(code)") }
        }
    }
}
