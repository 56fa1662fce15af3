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

    @Test(
        "RFC 9110 §15.5.16: a body that does not say it is JSON, uncompressed, is 415 on every route that reads one",
        arguments: [
            [], [("Content-Type", "text/plain")], [("Content-Type", "application/x-www-form-urlencoded")],
            [("Content-Type", "multipart/form-data; boundary=x")], [("Content-Type", "application/xml")],
            [("Content-Type", "application/jsonp")], [("Content-Type", "application/problem+json")],
            [("Content-Type", "json")], [("Content-Type", "")], [("Content-Type", "*/*")],
            [("Content-Type", "text/plain; application/json")],
            [("Content-Type", "application/json"), ("Content-Type", "text/plain")],
            [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
        ] as [[(String, String)]])
    func otherTypes(_ fields: [(String, String)]) async throws {
        try await Scene.with { scene in
            let fields = fields + [("Authorization", scene.shop.authorization)]
            let operators = fields.dropLast() + [("Authorization", scene.administrator.authorization)]
            let before = try await scene.snapshot()
            let routes: [(HTTPMethod, String, [(String, String)], String)] = [
                (.POST, "/v1/challenges", fields, #"{"user":"\#(scene.user)","type":"payment","message":"Pay?"}"#),
                (.POST, "/v1/users", fields, #"{"external_id":"a"}"#),
                (.PATCH, "/v1/users/\(scene.user)", fields, #"{"external_id":"a"}"#),
                (.POST, "/v1/users/\(scene.user)/enrollment-tickets", fields, "{}"),
                (.POST, "/v1/admin/clients", Array(operators), #"{"name":"Shop"}"#),
                (.PUT, "/v1/admin/types/other", Array(operators), #"{"expires_in":60}"#),
            ]
            for (method, path, headers, body) in routes {
                let reply = try await scene.server.send(method, path, headers: headers, body: Array(body.utf8))
                expectRefusal(reply, 415, "unsupported_media_type", at: nil, path)
                #expect(reply.headers["accept"] == "application/json")
                #expect(reply.headers["accept-encoding"] == "identity")
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 9110 §15.5.16: a device's body is held to it too, after its signature")
    func devices() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let path = "/v1/challenges/\(asked.id)/answer"
            let body = Array(#"{"message":"AA=="}"#.utf8)
            let fields = try await scene.phone.signature(.POST, path, body: body).map { field in
                field.0 == "Content-Type" ? ("Content-Type", "text/plain") : field
            }
            let reply = try await scene.server.send(.POST, path, headers: fields, body: body)
            expectRefusal(reply, 415, "unsupported_media_type")
            #expect(try await scene.approve(asked).json["state"] == "approved")
        }
    }

    @Test(
        "RFC 8259 §11: JSON is JSON in any case and with any parameter, and always UTF-8",
        arguments: [
            "application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x=y",
            "application/json; charset=iso-8859-1",
        ])
    func json(_ type: String) async throws {
        try await Scene.with { scene in
            let fields = [("Authorization", scene.shop.authorization), ("Content-Type", type)]
            let body = Array(#"{"external_id":"kündin"}"#.utf8)
            let reply = try await scene.server.send(.POST, "/v1/users", headers: fields, body: body)
            #expect(reply.status == 201, "\(reply)")
            let latin = [UInt8](#"{"external_id":"k"#.utf8) + [0xFC] + Array(#"ndin"}"#.utf8)
            let refused = try await scene.server.send(.POST, "/v1/users", headers: fields, body: latin)
            expectRefusal(refused, 400, "invalid_utf8")
        }
    }

    @Test("Where no body is needed, none need say what it is")
    func noBody() async throws {
        try await Scene.with { scene in
            let path = "/v1/users/\(scene.user)/enrollment-tickets"
            let fields = [("Authorization", scene.shop.authorization)]
            let reply = try await scene.server.send(.POST, path, headers: fields)
            #expect(reply.status == 201)
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
