import Countersign
import CountersignServer
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

/// Databases that earlier programs have left, with the vault of a phone.
///
/// Each lies in a folder of its own, `Stored/NAME/ENGINE`, and is never changed. `scripts/make-stored-database NAME` makes
/// another one, which is due whenever a migration is added: what the program before it left must be taken on.
@Suite("A database and a phone of an earlier program go on with this one")
struct StoredDatabaseTests {
    private static let issuer = "https://login.example.com"
    private static let pin = "835174"
    /// What the customer types on the page.
    private static let name = "customer-1@example.com"
    /// The folder that a database shall be made in; nil usually.
    private static let made = ProcessInfo.processInfo.environment["COUNTERSIGN_STORE_DATABASE"]

    private static var folders: [URL] {
        let all = Bundle.module.url(forResource: "Stored", withExtension: nil).flatMap {
            try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        return (all ?? []).map { $0.appending(path: "\(Engine.chosen.rawValue)") }.sorted { $0.path < $1.path }
    }

    @Test("There is a database of each schema before this one, and of the first")
    func schemas() throws {
        let stored = Set(Self.folders.map { $0.deletingLastPathComponent().lastPathComponent })
        let count = Migrations.newest
        for schema in 1...max(1, count - 1) {
            #expect(stored.contains("schema-\(schema)"), "scripts/make-stored-database schema-\(schema) has not run")
        }
    }

    /// Sends the requests to the issuer to where the server under test listens.
    private struct Redirected: Transport {
        let base = URLSessionTransport()
        let port: Int

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            let path = request.url.absoluteString.dropFirst(StoredDatabaseTests.issuer.count)
            request.url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
            return try await base.send(request)
        }
    }

    /// The server with the data of a folder, and the phone whose vault lies there too.
    private static func with(
        _ folder: String, at time: Int64?, database: DatabaseChoice?,
        _ body: @escaping @Sendable (TestServer, Authenticator) async throws -> Void
    ) async throws {
        let port = FreePort.next()
        try await TestServer.with(
            dataFolder: "\(folder)/data", port: port,
            settings: { settings in
                settings.issuer = Issuer(issuer)
                if let database { settings.database = database }
            },
            server: { settings, logger, clock in
                if let time { clock.advance(seconds: time - clock.now.seconds) }
                return try await TestServer.usual(settings, logger, clock)
            }
        ) { server in
            let phone = try await Authenticator(
                issuer: try #require(URL(string: issuer)),
                app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"),
                vault: try FileVault(at: URL(filePath: "\(folder)/phone")),
                transport: Redirected(port: port), clock: SkewedClock(of: server.clock))
            try await body(server, phone)
        }
    }

    /// Asks, and has the phone approve by PIN; returns the challenge's id.
    private static func approve(_ shop: Caller, _ phone: Authenticator) async throws -> String {
        let asked = try await shop.ask("external_id:customer-1", ["type": "pin"])
        let pending = try #require(try await phone.pendingChallenges().first)
        try await pending.open().approve(with: .pin(try PIN(pin)), number: asked["number"]?.string)
        return try #require(asked["id"]?.string)
    }

    @Test("What was stored is there, receipts verify, and the phone approves by its PIN", arguments: folders)
    func goOn(_ stored: URL) async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.path("stored")
        try FileManager.default.copyItem(at: stored, to: URL(filePath: folder))
        // A version control keeps no such modes.
        try await Self.run("chmod", ["-R", "go=", folder])
        let facts = try JSONValue(parsing: Array(try Data(contentsOf: stored.appending(path: "facts.json"))))
        let time = try #require(facts["time"]?.integer)
        let postgres = try await Self.postgres()
        if let url = postgres?.database.url {
            try await Self.run("psql", ["--quiet", "--set", "ON_ERROR_STOP=1", "--file", "\(folder)/dump.sql", url])
        }
        try await Self.with(folder, at: time + 3600, database: postgres?.choice) { server, phone in
            let shop = server.caller(try #require(facts["authorization"]?.string))
            for state in ["approved", "denied", "cancelled"] {
                let id = try #require(facts[state]?.string)
                #expect(try await shop.call(.GET, "/v1/challenges/\(id)").success()["state"] == .string(state))
            }
            let approved = try #require(facts["approved"]?.string)
            #expect(try await Self.verifies(approved, of: shop, at: server.clock.now.unixSeconds))
            let new = try await Self.approve(shop, phone)
            #expect(try await Self.verifies(new, of: shop, at: server.clock.now.unixSeconds))
            if let refresh = facts["refresh"]?.string {
                let tokens = try await Self.token(
                    [("grant_type", "refresh_token"), ("refresh_token", refresh)], server, shop)
                #expect(tokens["access_token"]?.string != nil)
            }
            let devices = try await shop.call(.GET, "/v1/users/external_id:customer-1/enrollments").success()
            #expect(devices["enrollments"]?.array?.map { $0["state"] } == ["active"])
        }
    }

    /// Signs the customer in by OpenID Connect; returns the refresh token.
    private static func signIn(_ server: TestServer, _ shop: Caller, _ phone: Authenticator) async throws -> String {
        let uri = "https://shop.example.com/callback"
        let client = try #require(
            String(decoding: Base64.decode(shop.authorization.dropFirst(6)) ?? [], as: UTF8.self)
                .split(separator: ":").first)
        let settings: JSONValue = ["profile": "web", "redirect_uris": [.string(uri)], "asked_browsers": "all"]
        _ = try await server.administrator.call(.PUT, "/v1/admin/clients/\(client)/openid", settings).success()
        var cookies: [String: String] = [:]
        func visit(_ method: HTTPMethod, _ path: String, _ form: String? = nil) async throws -> Reply {
            let cookie = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
            var headers = cookie.isEmpty ? [] : [("Cookie", cookie)]
            if form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
            let reply = try await server.send(
                method, path, headers: headers, body: form.map { Array($0.utf8) }, isContract: false)
            for set in reply.headers["set-cookie"]?.split(separator: ", ") ?? [] {
                let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
            }
            return reply
        }
        func found(_ pattern: Regex<(Substring, Substring)>, _ reply: Reply) throws -> String {
            String(try #require(String(decoding: reply.body, as: UTF8.self).firstMatch(of: pattern)).output.1)
        }
        let sealed = #/name="request" value="([^"]*)"/#
        let query = "client_id=\(client)&redirect_uri=\(uri)&response_type=code&scope=openid%20offline_access&nonce=n"
        let first = try await visit(.GET, "/oauth2/authorize?\(query)")
        let second = try await visit(
            .POST, "/signin/choose", "identifier=\(Self.name)&request=\(try found(sealed, first))")
        let asked = try await visit(.POST, "/signin/ask", "way=device&request=\(try found(sealed, second))")
        let path = try #require(asked.headers["location"])
        let number = try found(#/aria-label="([0-9 ,]+)"/#, try await visit(.GET, path)).filter(\.isNumber)
        while true {
            if let pending = try await phone.pendingChallenges().first {
                try await pending.open().approve(with: .confirmation, number: number)
                break
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let code = try found(#/[?&;]code=([^&"]*)/#, try await visit(.GET, "\(path)/done"))
        let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", uri)]
        return try #require(try await token(fields, server, shop)["refresh_token"]?.string)
    }

    private static func token(
        _ fields: [(String, String)], _ server: TestServer, _ shop: Caller
    ) async throws -> JSONValue {
        let form = fields.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        let headers = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Authorization", shop.authorization),
        ]
        return try await server.send(
            .POST, "/oauth2/token", headers: headers, body: Array(form.utf8), isContract: false
        ).success()
    }

    /// Whether the challenge's receipt verifies by the certificate that the server gives with it.
    private static func verifies(_ id: String, of shop: Caller, at now: UnixSeconds) async throws -> Bool {
        let receipt = try await shop.call(.GET, "/v1/challenges/\(id)/receipt").body
        let armored = try await shop.call(.GET, "/v1/challenges/\(id)/receipt?format=certificate").body
        let certificate = try Certificate(armored: String(decoding: armored, as: UTF8.self))
        let verified = try VerifiedReceipt(
            message: String(decoding: receipt, as: UTF8.self), certificate: certificate, now: now)
        return "\(verified.receipt.challenge)" == id && verified.receipt.decision.name == "approved"
    }

    /// An empty PostgreSQL database, if the tests run on PostgreSQL.
    private static func postgres() async throws -> (database: PostgresDatabase, choice: DatabaseChoice)? {
        guard Engine.chosen == .postgresql else { return nil }
        let database = try await PostgresDatabase.make(waits: false)
        var settings = PostgresSettings(address: try PostgresAddress(database.url))
        settings.connections = 4
        return (database, .postgresql(settings))
    }

    /// Runs a program.
    private static func run(_ program: String, _ arguments: [String]) async throws {
        let result = try await RunningProgram.run("/usr/bin/env", [program] + arguments)
        try #require(result.status == 0, "\(result.errors)")
    }

    @Test(
        "A database is made, to be kept",
        .enabled(if: made != nil, "only scripts/make-stored-database makes one"))
    func make() async throws {
        let folder = try #require(Self.made)
        let postgres = try await Self.postgres()
        try await Self.with(folder, at: nil, database: postgres?.choice) { server, phone in
            let shop = try await server.makeClient("ACME Bank", ["pin_policy": ["cost": 15]])
            let user = try await shop.makeUser("customer-1")
            let enrollment = try await phone.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            try await enrollment.setPIN(try PIN(Self.pin))
            let approved = try await Self.approve(shop, phone)
            let denied = try #require(try await shop.ask("external_id:customer-1", ["type": "confirm"])["id"]?.string)
            try await #require(try await phone.pendingChallenges().first).open().deny()
            let cancelled = try #require(try await shop.ask("external_id:customer-1", ["type": "pin"])["id"]?.string)
            _ = try await shop.call(.DELETE, "/v1/challenges/\(cancelled)").success()
            _ = try await shop.call(
                .PATCH, "/v1/users/external_id:customer-1", ["email": .string(Self.name)]
            ).success()
            let refresh = try await Self.signIn(server, shop, phone)
            let facts: JSONValue = [
                "refresh": .string(refresh), "time": .integer(server.clock.now.seconds),
                "authorization": .string(shop.authorization),
                "approved": .string(approved), "denied": .string(denied), "cancelled": .string(cancelled),
            ]
            try Data(facts.encoded).write(to: URL(filePath: "\(folder)/facts.json"))
            if let url = postgres?.database.url {
                try await Self.run("pg_dump", ["--no-owner", "--no-privileges", "--file", "\(folder)/dump.sql", url])
            }
        }
    }
}
