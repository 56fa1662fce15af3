import CountersignCore
import CountersignWire
import Encodings
import GRDB
import HTTPTypes
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("A second protocol on the same server")
struct SecondDoorTests {
    @Test("A client asks by a form and sees the end while it waits", arguments: ["approved", "denied"])
    func asksAndWatches(_ end: String) async throws {
        try await Self.with { scene, client in
            // A parameter that nobody knows is ignored.
            let asked = try await scene.post("/form/ask", client + scene.question + [("prompt", "none")])
            let id = try #require(asked.json["challenge"]?.string, "\(asked)")
            let number = try #require(asked.json["number"]?.string, "\(asked)")
            let watch = Task { try await scene.post("/form/watch", client + [("challenge", id)]) }
            try await letItWait()
            if end == "approved" {
                _ = try await scene.approve((id, number))
            } else {
                _ = try await scene.phone.answer(id, .denied)
            }
            let told = try await watch.value
            #expect(told.status == 200)
            #expect(told.json == ["state": .string(end)])
            // The other door shows the same challenge.
            #expect(try await scene.state(of: id) == end)
        }
    }

    @Test("What cannot be answered comes in the door's own shape, and leaves the other door as it is")
    func refusals() async throws {
        try await Self.with { scene, client in
            func expect(_ reply: Reply, _ status: Int, _ error: String, location: SourceLocation = #_sourceLocation) {
                #expect(reply.status == status, "\(reply)", sourceLocation: location)
                #expect(
                    reply.json.object?.members.map(\.name) == ["error", "error_description"], sourceLocation: location)
                #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
                #expect(reply.headers["content-type"] == "application/json", sourceLocation: location)
                #expect(reply.headers["x-request-id"] != nil, sourceLocation: location)
            }
            expect(try await scene.post("/form/nowhere", []), 404, "not_found")
            expect(try await scene.post("/form", []), 404, "not_found")
            expect(try await scene.post("/form//ask", []), 404, "not_found")
            let get = try await scene.server.send(.GET, "/form/ask", isContract: false)
            expect(get, 405, "invalid_request")
            #expect(get.headers["allow"] == "POST")
            expect(try await scene.post("/form/ask?a=1&a=2", client), 400, "invalid_request")
            expect(try await scene.post("/form/ask", client), 400, "invalid_request")
            let large = try await scene.post("/form/ask", client + [("pad", String(repeating: "x", count: 300_000))])
            expect(large, 400, "invalid_request")
            #expect(large.headers["connection"] == "close")
            let json = try await scene.server.send(
                .POST, "/form/ask", headers: [("Content-Type", "application/json")], body: Array("{}".utf8),
                isContract: false)
            expect(json, 400, "invalid_request")
            let wrong = [client[0], ("client_secret", "wrong")]
            expect(try await scene.post("/form/ask", wrong + scene.question), 401, "invalid_client")
            let stranger = [("login_hint", "external_id:nobody")] + scene.question.dropFirst()
            expect(try await scene.post("/form/ask", client + stranger), 400, "unknown_user_id")
            expect(
                try await scene.post("/form/watch", client + [("challenge", "chl_00000000000000000000000000")]), 400,
                "invalid_grant")
            // The path of no door's, which only begins alike, is the native API's.
            expectRefusal(try await scene.server.send(.GET, "/formula"), 404, "not_found")
            expectRefusal(try await scene.server.send(.GET, "/nowhere"), 404, "not_found")
            expectRefusal(try await scene.server.send(.GET, "/v1/users"), 401, "unauthorized")
        }
    }

    @Test("A fault is a 500 of the door's own, without the reason, and is logged once")
    func fault() async throws {
        try await TestDatabases.$isSQLite.withValue(true) {
            try await Self.with { scene, client in
                let database = try DatabaseQueue(path: "\(scene.server.dataFolder)/countersign.sqlite")
                try await database.writeWithoutTransaction {
                    try $0.execute(sql: "ALTER TABLE clients RENAME TO clients_away")
                }
                let reply = try await scene.post("/form/ask", client + scene.question)
                #expect(reply.status == 500)
                #expect(reply.json["error"] == "server_error")
                #expect(reply.json["error_description"] == .string("request \(reply.headers["x-request-id"] ?? "")"))
                expectRefusal(try await scene.shop.call(.GET, "/v1/users"), 500, "internal_error")
            }
        }
    }

    @Test("A database that is away is a 503 of the door's own")
    func unavailable() async throws {
        try await Self.with { scene, _ in
            let reply = try await scene.post("/away", [])
            #expect(reply.status == 503)
            #expect(reply.json["error"] == "temporarily_unavailable")
        }
    }

    /// The usual cast on a server with all doors, and the shop's credentials as fields of a form.
    private static func with(
        _ body: @escaping @Sendable (Scene, [(String, String)]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let server = { @Sendable (settings, logger, clock) in
            try await Server(settings, environment: [:], logger: logger, time: clock) { [FormDoor($0), AwayDoor($0)] }
        }
        try await TestServer.with(dataFolder: folder.path("data"), server: server) { server in
            let scene = try await Scene.make(server)
            let pair = String(decoding: Base64.decode(scene.shop.authorization.dropFirst(6)) ?? [], as: UTF8.self)
                .split(separator: ":")
            try await body(scene, [("client_id", String(pair[0])), ("client_secret", String(pair[1]))])
        }
    }
}

/// A door whose database is away.
private final class AwayDoor: Door {
    let paths = ["/away"]
    private let face: FormDoor

    init(_ resources: DoorResources) { face = FormDoor(resources) }

    func addRoutes(to table: inout RouteTable) {
        table.add(.post, "/away") { _, _ in throw StoreError.unavailable }
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? { face.refusal(of: error, context) }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        face.refusal(of: failure, context)
    }
}

extension Scene {
    fileprivate var question: [(String, String)] {
        [("login_hint", user), ("type", "payment"), ("binding_message", "Sign in at ACME?")]
    }

    fileprivate func post(_ path: String, _ form: [(String, String)]) async throws -> Reply {
        let body = form.map { "\($0)=\($1.replacing(" ", with: "+").replacing(":", with: "%3A"))" }
        return try await server.send(
            .POST, path, headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.joined(separator: "&").utf8), isContract: false)
    }
}
