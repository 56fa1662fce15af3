import CountersignWire
import Encodings
import Foundation
import GRDB
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("What is logged and what is stored", .timeLimit(.minutes(15)))
struct LogTests {
    /// What nobody may find who reads the log, or the database alone.
    private struct Secrets: Sendable {
        var everywhere: [String: String] = [:]
        /// The numbers of challenges; that of an approval stands in its receipt.
        var numbers: [String] = []
    }

    @Test("No token, secret, ticket, number or message is in the log, nor in the database as it is")
    func noSecrets() async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        let data = folder.path("data")
        let secrets = try await TestServer.with(dataFolder: data, logger: log.logger) { server in
            try await Self.liveThroughEverything(server)
        }
        let lines = log.entries
        // The log is not empty: refusals and a delivery that failed are in it.
        #expect(lines.contains { $0.hasPrefix("notice refused") && $0.contains("answer_invalid") })
        #expect(lines.contains { $0.hasPrefix("notice delivery failed") })
        for (name, secret) in secrets.everywhere {
            #expect(secret.utf8.count > 12, "\(name)")
            #expect(!lines.contains { $0.contains(secret) }, "\(name)")
        }
        for number in secrets.numbers { #expect(!lines.contains { $0.contains(number) }) }
        let stored = try TestDatabases.contents(for: data)
        #expect(stored.contains { $0.value.range(of: Data("customer-1".utf8)) != nil })
        for (file, bytes) in stored {
            for (name, secret) in secrets.everywhere {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name) is in \(file)")
            }
            let open = try #require(secrets.numbers.last)
            #expect(bytes.range(of: Data(open.utf8)) == nil, "a number is in \(file)")
        }
    }

    /// Everything that handles a secret, done right and done wrong.
    private static func liveThroughEverything(_ server: TestServer) async throws -> Secrets {
        var secrets = Secrets()
        let administrator = server.administrator
        let type: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0]
        _ = try await administrator.call(.PUT, "/v1/admin/types/payment", type).success()
        // Nobody listens there.
        let callback = "http://127.0.0.1:9/hook"
        let shop = try await server.makeClient("ACME Shop", ["callback_uris": [.string(callback)]])
        let key = [("Idempotency-Key", "key-1")]
        let rival = try await administrator.call(.POST, "/v1/admin/clients", ["name": "Rival"], headers: key).success()
        secrets.everywhere["bootstrap token"] = server.token
        secrets.everywhere["credentials"] = String(shop.authorization.dropFirst(6))
        secrets.everywhere["callback secret"] = shop.callbackSecret
        secrets.everywhere["client secret in a kept reply"] = rival["client_secret"]?.string
        let user = try await shop.makeUser("customer-1")
        let ticket = try await shop.call(.POST, "/v1/users/\(user)/enrollment-tickets", nil, headers: key).success()
        let phone = try await TestPhone(invitation: ticket["qr"]?.string ?? "", server: server)
        secrets.everywhere["ticket"] = phone.invitation.ticket.reveal()
        _ = try await phone.enroll().success()
        #expect(try await phone.enroll().status == 201)
        let scene = Scene(server: server, shop: shop, user: user, phone: phone)
        for end in [ChallengeEnd.approved, .denied, .wrongNumber, .cancelled] {
            let asked = try await scene.ask([
                "callback_uri": .string(callback), "secure_message": .string("Secure: \(end)"),
            ])
            secrets.numbers.append(asked.number)
            _ = try await end.bring(asked, scene)
        }
        try await Self.doEverythingWrong(scene, &secrets)
        let last = try await shop.call(
            .POST, "/v1/challenges", ["user": .string(user), "type": "payment", "message": "Pay?"], headers: key)
        secrets.numbers.append(try #require(last.success()["number"]?.string))
        return secrets
    }

    private static func doEverythingWrong(_ scene: Scene, _ secrets: inout Secrets) async throws {
        let asked = try await scene.ask()
        let server = scene.server
        let text = scene.phone.receipt(of: try await scene.phone.open(asked.id).question, .denied).text
        let message = try await scene.phone.seal(text.replacing("denied", with: "Denied"))
        secrets.everywhere["refused message"] = Base64.encode(message)
        expectRefusal(try await scene.phone.answer(asked.id, message: message), 422, "answer_invalid")
        let wrong = "wrong-secret-wrong-secret"
        secrets.everywhere["wrong secret"] = wrong
        for authorization in [
            "Bearer \(wrong)", "Basic \(Base64.encode(Array("\(scene.shop.clientID):\(wrong)".utf8)))", wrong,
        ] {
            let reply = try await server.caller(authorization).call(.GET, "/v1/users/\(scene.user)")
            expectRefusal(reply, 401, "unauthorized")
        }
        let typo: JSONValue = ["name": "Shop", "client_secret": .string(wrong)]
        expectRefusal(
            try await scene.administrator.call(.POST, "/v1/admin/clients", typo), 422, "unknown_member",
            at: "/client_secret")
        expectRefusal(
            try await scene.phone.send(.GET, "/v1/enrollments/self", createdIn: 3600), 401, "clock_skew")
        let second = try await TestPhone(invitation: scene.phone.invitation.text, server: server)
        expectRefusal(try await second.enroll(), 403, "ticket_used")
        expectRefusal(
            try await scene.shop.call(.GET, "/v1/users/\(scene.user)?token=\(wrong)"), 400, "invalid_parameter")
    }

    @Test("A refusal is logged at notice with its request id and code; a success only among the requests, at info")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        try await TestServer.with(dataFolder: folder.path("data"), logger: log.logger) { server in
            let refused = try await server.send(.GET, "/v1/admin/clients")
            let id = try #require(refused.json["request_id"]?.string)
            let lines = log.entries.filter { $0.contains(id) }
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("notice refused") == true)
            #expect(lines.first?.contains("unauthorized") == true)
            #expect(lines.last?.hasPrefix("info request") == true)
            #expect(lines.last?.contains("status=401") == true)
            let done = try await server.send(.GET, "/readyz")
            let success = try #require(done.headers["x-request-id"])
            #expect(log.entries.filter { $0.contains(success) }.map { $0.prefix(12) } == ["info request"])
        }
    }

    @Test("Who hangs up in the middle of a request is no fault of the server's")
    func hangingUp() async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        try await TestServer.with(dataFolder: folder.path("data"), logger: log.logger) { server in
            let request = "POST /v1/challenges HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
            try Self.sendAndHangUp(request, to: server)
            while !log.entries.contains(where: { $0.hasPrefix("info request") }) { await Task.yield() }
            let lines = log.entries.filter { $0.contains("request=") }
            #expect(lines.map { $0.prefix(12) } == ["notice refus", "info request"])
            #expect(log.entries.contains { $0.contains("code=malformed_json") })
        }
    }

    private static func sendAndHangUp(_ text: String, to server: TestServer) throws {
        let port = try #require(URLComponents(string: "\(server.issuer)")?.port)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        #expect(isConnected && write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    @Test("A fault is logged once, as an error, with its reason and the request id that the caller got")
    func faults() async throws {
        try await TestDatabases.$isSQLite.withValue(true) { try await logFault() }
    }

    private func logFault() async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        try await TestServer.with(dataFolder: folder.path("data"), logger: log.logger) { server in
            let database = try DatabaseQueue(path: "\(server.dataFolder)/countersign.sqlite")
            try await database.writeWithoutTransaction { try $0.execute(sql: "ALTER TABLE clients RENAME TO away") }
            let reply = try await server.administrator.call(.GET, "/v1/admin/clients")
            expectRefusal(reply, 500, "internal_error")
            let id = try #require(reply.json["request_id"]?.string)
            let lines = log.entries.filter { $0.contains(id) && !$0.hasPrefix("info ") }
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("error fault") == true)
            #expect(lines.first?.contains("no such table") == true, "\(lines)")
        }
    }
}
