import CountersignWire
import Encodings
import Foundation
import Logging
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("A server that lets out a secret fails its test", .timeLimit(.minutes(15)))
struct LeakTests {
    /// How a secret could be written by mistake.
    enum Form: CaseIterable {
        case plain, hex, base64, base64URL, percent

        func callAsFunction(_ text: String) -> String {
            let bytes = Array(text.utf8)
            return switch self {
            case .plain: text
            case .hex: Hex.encode(bytes)
            case .base64: Base64.encode(Array("id:".utf8) + bytes)
            case .base64URL: Base64URL.encode(bytes)
            case .percent: bytes.map { "%\(Hex.encodeUppercase([$0]))" }.joined()
            }
        }
    }

    /// Expects the end of a server, and only that, to find a leak.
    private func expectLeak(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async {
        let leak = await #expect(throws: ServerWatch.Leak.self, sourceLocation: sourceLocation) {
            try await TestServer.with(body)
        }
        #expect(leak?.description.contains(text) == true, "\(leak as Any)", sourceLocation: sourceLocation)
    }

    @Test("The bootstrap token in a line of the log", arguments: Form.allCases)
    func log(form: Form) async {
        await expectLeak("the bootstrap token is in the log") { server in
            server.watch.book.logger.trace("storage", metadata: ["error": "\(form(server.token))"])
        }
    }

    @Test("Every secret of the data folder in the log")
    func dataFolder() async throws {
        await expectLeak("the master key is in the log") { server in
            let key = try String(contentsOfFile: "\(server.dataFolder)/master.key", encoding: .utf8)
            server.watch.book.logger.error("fault \(key)")
        }
    }

    @Test("What a client, a ticket and a question hold in the log")
    func requests() async {
        await expectLeak("a client's secret is in the log") { server in
            let shop = try await server.makeClient()
            let credentials = Base64.decode(shop.authorization.dropFirst(6)) ?? []
            let secret = String(decoding: credentials, as: UTF8.self).split(separator: ":")[1]
            server.watch.book.logger.notice("refused", metadata: ["secret": "\(secret)"])
        }
        await expectLeak("the credentials of a request is in the log") { server in
            _ = try await server.caller("Bearer no-token-at-all").call(.GET, "/v1/admin/clients")
            server.watch.book.logger.debug("who is no-token-at-all?")
        }
        await expectLeak("a ticket is in the log") { server in
            let shop = try await server.makeClient()
            let ticket = try await shop.makeTicket(for: try await shop.makeUser())
            let invitation = try #require(EnrollmentInvitation(ticket))
            server.watch.book.logger.info("ticket \(invitation.ticket.reveal())")
        }
    }

    @Test("What a challenge shows, its number and its nonce in the log")
    func challenges() async throws {
        let leaks = try await Self.leaks { scene in
            let asked = try await scene.ask(["message": "A private matter"])
            let log = scene.server.watch.book.logger
            log.info("asked A private matter")
            log.info("number=\(asked.number)")
            let nonce = try await scene.phone.open(asked.id).question.nonce
            log.info("nonce \(nonce)")
        }
        #expect(leaks.count == 3)
        for text in ["the message of a challenge", "the number of a challenge", "the nonce of a challenge"] {
            #expect(leaks.contains { $0.hasPrefix("\(text) is in the log") }, "\(text)")
        }
    }

    /// The leaks of a server that has more than one.
    private static func leaks(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws -> [String] {
        let found = Found()
        await #expect(throws: ServerWatch.Leak.self) {
            try await Scene.with { scene in
                try await body(scene)
                await found.set(scene.server.watch.leaks.map(\.description))
            }
        }
        return await found.descriptions
    }

    private actor Found {
        private(set) var descriptions: [String] = []

        func set(_ descriptions: [String]) { self.descriptions = descriptions }
    }

    @Test("The bootstrap token in the body of a reply, or in a field", arguments: Form.allCases)
    func replies(form: Form) async {
        await expectLeak("the bootstrap token is in GET /v1/users: 404") { server in
            server.watch.note(
                "GET", "/v1/users", request: (headers: [], body: nil),
                reply: (status: 404, headers: [:], body: Array("{\"detail\":\"\(form(server.token))\"}".utf8)))
        }
        await expectLeak("the bootstrap token is in GET /v1/users: 200") { server in
            server.watch.note(
                "GET", "/v1/users", request: (headers: [], body: nil),
                reply: (status: 200, headers: ["x-debug": form(server.token)], body: []))
        }
    }

    @Test("What one reply may tell, any other may not")
    func audiences() async {
        await expectLeak("a client's secret is in GET /v1/admin/clients?cursor=1: 200") { server in
            let made = try await server.administrator.call(.POST, "/v1/admin/clients", ["name": "Shop"])
            // Told once more by the same route is told to the same caller.
            server.watch.note(
                "POST", "/v1/admin/clients", request: (headers: [], body: nil),
                reply: (status: 201, headers: [:], body: made.body))
            #expect(server.watch.leaks.isEmpty)
            server.watch.note(
                "GET", "/v1/admin/clients?cursor=1", request: (headers: [], body: nil),
                reply: (status: 200, headers: [:], body: made.body))
        }
        await expectLeak("a ticket is in POST /v1/admin/clients: 201") { server in
            let shop = try await server.makeClient()
            let ticket = try await shop.makeTicket(for: try await shop.makeUser())
            let invitation = try #require(EnrollmentInvitation(ticket))
            #expect(server.watch.leaks.isEmpty)
            server.watch.note(
                "POST", "/v1/admin/clients", request: (headers: [], body: nil),
                reply: (status: 201, headers: [:], body: Array(invitation.ticket.reveal().utf8)))
        }
    }
}
