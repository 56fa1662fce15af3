import AsyncHTTPClient
import Encodings
import Foundation
import JOSE
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// The program of `Examples/KeycloakChannel` between a fake Keycloak, a real server and an enrolled device.
@Suite("Keycloak's HTTP authentication channel", .timeLimit(.minutes(15)))
struct KeycloakChannelTests {
    /// What Keycloak posts.
    private static let request: JSONValue = [
        "login_hint": "customer-1", "scope": "openid profile", "is_consent_required": true,
        "binding_message": "TV-4711", "acr_values": "gold",
        // Keycloak 17 passed on its client's secret.
        "client_secret": "the-secret-of-the-tv",
    ]

    /// What the device shows of it besides the message.
    private static let details: JSONValue = [
        ["label": "Application", "value": "acme-tv"], ["label": "Message", "value": "TV-4711"],
        ["label": "Access", "value": "openid profile"],
    ]

    /// The bridge, and what is around it.
    private struct Bridge: Sendable {
        let tool: ServedTool
        let keycloak: FakeKeycloak
        /// The credential of the bridge at Countersign.
        let shop: String
        let program: RunningProgram
        let url: String

        /// The binary, as it was built beside these tests.
        static var path: String {
            get throws {
                URL(filePath: try Tool.path).deletingLastPathComponent().appending(path: "KeycloakChannel").path
            }
        }

        static func start(_ tool: ServedTool, _ keycloak: FakeKeycloak, as shop: String) async throws -> Bridge {
            let program = try RunningProgram(
                try path,
                [
                    "--realm", keycloak.issuer, "--countersign", tool.url, "--type", "keycloak", "--port",
                    "\(FreePort.next())",
                ], environment: ["COUNTERSIGN_TOKEN": shop])
            let line = try #require(await program.line(holding: "Keycloak may post to "))
            return Bridge(
                tool: tool, keycloak: keycloak, shop: shop, program: program,
                url: String(line.dropFirst("Keycloak may post to ".count)))
        }

        /// Posts as Keycloak does, and returns the status of the reply.
        func post(_ body: JSONValue = KeycloakChannelTests.request, token: String?) async throws -> Int {
            try await post(bytes: body.encoded, token: token)
        }

        func post(bytes: [UInt8], token: String?) async throws -> Int {
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
            request.body = .bytes(bytes)
            let response = try await TestHTTP.client.execute(request, timeout: .seconds(30))
            return Int(response.status.code)
        }

        /// The id of the challenge that waits on the device, as soon as there is one.
        func pending() async throws -> String {
            while true {
                let all = try await tool.json("device", "pending")["challenges"]
                if let id = all?[0]?["id"]?.string { return id }
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        /// How many challenges there are.
        func count() async throws -> Int? {
            try await tool.json("challenge", "list", as: shop)["challenges"]?.array?.count
        }
    }

    /// Runs a body with a bridge, and reads afterwards what it has printed for what it may not print.
    private static func with(
        answering statuses: [Int] = [], _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        try await FakeKeycloak.with(answering: statuses) { keycloak in
            try await ServedTool.with { tool in
                let shop = try await tool.furnish()
                _ = try await tool.json("type", "set", "keycloak", "--no-number-entry", "--denial-pause", "0")
                let bridge = try await Bridge.start(tool, keycloak, as: shop)
                try await body(bridge)
                try await end(bridge, by: SIGTERM)
            }
        }
    }

    private static func end(_ bridge: Bridge, by signal: Int32) async throws {
        bridge.program.send(signal)
        let result = try await bridge.program.result()
        #expect([0, 128 + SIGKILL].contains(result.status), "\(result.errors)")
        let printed = result.output + result.errors
        // All tokens begin alike.
        for secret in ["eyJ", bridge.shop, "customer-1", "TV-4711", "the-secret-of-the-tv"] {
            #expect(!printed.contains(secret), "\(printed)")
        }
    }

    @Test("The person sees who asks for what; Keycloak gets 201 at once, and what became of it under its own token")
    func answers() async throws {
        try await Self.with { bridge in
            for (answer, status) in [
                ("--approve", "SUCCEED"), ("--deny", "CANCELLED"), ("--report", "UNAUTHORIZED"),
            ] {
                let token = try await bridge.keycloak.token()
                #expect(try await bridge.post(token: token) == 201)
                let challenge = try await bridge.pending()
                let opened = try await bridge.tool.json("device", "open", challenge)
                #expect(opened["message"]?.string == "Do you want to sign in?")
                #expect(opened["details"] == Self.details)
                let answered = try await bridge.tool.run("device", "answer", challenge, answer)
                #expect(answered.status == 0, "\(answered.errors)")
                #expect(await bridge.keycloak.callback()?.status(under: token) == status)
            }
        }
    }

    @Test("Somebody whom nobody knows, and somebody who does not answer, are one and the same to Keycloak")
    func nobodyAnswers() async throws {
        try await Self.with { bridge in
            var times: [Duration] = []
            for name in ["customer-1", "nobody"] {
                let start = ContinuousClock.now
                let token = try await bridge.keycloak.token(for: 15)
                let body: JSONValue = ["login_hint": .string(name), "scope": "openid"]
                #expect(try await bridge.post(body, token: token) == 201)
                #expect(await bridge.keycloak.callback()?.status(under: token) == "UNAUTHORIZED")
                times.append(ContinuousClock.now - start)
            }
            // The token's time has whole seconds.
            #expect(times.allSatisfy { $0 > .seconds(8) && $0 < .seconds(15) }, "\(times)")
            // A late yes cannot be given.
            let list = try await bridge.tool.json("challenge", "list", as: bridge.shop)["challenges"]
            #expect(list?.array?.map { $0["state"]?.string } == ["cancelled"])
        }
    }

    @Test("Nobody is asked who could not answer in time")
    func noTime() async throws {
        try await Self.with { bridge in
            let token = try await bridge.keycloak.token(for: 5)
            #expect(try await bridge.post(token: token) == 201)
            #expect(await bridge.keycloak.callback()?.status(under: token) == "UNAUTHORIZED")
            #expect(try await bridge.count() == 0)
        }
    }

    @Test("A request that comes again asks nobody again, even after a restart; another one with its token is refused")
    func repeated() async throws {
        try await Self.with { bridge in
            let token = try await bridge.keycloak.token()
            #expect(try await bridge.post(token: token) == 201)
            let challenge = try await bridge.pending()
            #expect(try await bridge.post(token: token) == 201)
            #expect(try await bridge.post(["login_hint": "customer-2"], token: token) == 409)
            // What is forgotten in between is not told; what comes again is.
            let next = try await Bridge.start(bridge.tool, bridge.keycloak, as: bridge.shop)
            try await Self.end(bridge, by: SIGKILL)
            #expect(try await next.post(token: token) == 201)
            _ = try await bridge.tool.run("device", "answer", challenge, "--approve")
            #expect(await bridge.keycloak.callback()?.status(under: token) == "SUCCEED")
            #expect(try await next.count() == 1)
            try await Self.end(next, by: SIGTERM)
        }
    }

    @Test("Only what this realm has signed for itself is taken, and a body that is no request is refused")
    func refused() async throws {
        try await Self.with { bridge in
            let keycloak = bridge.keycloak
            let foreign: [String?] = try await [
                nil, "no token", keycloak.token(signedBy: try RSAPrivateKey()), keycloak.token(for: -1),
                keycloak.token { $0["iss"] = "https://keycloak.example.com/realms/other" },
                keycloak.token { $0["aud"] = "acme-tv" },
                // An access token whose audience somebody has added the realm to.
                keycloak.token { $0["aud"] = .array(["account", $0["iss"] ?? .null]) },
                keycloak.token { $0["typ"] = "Refresh" },
                keycloak.token { $0["jti"] = nil },
            ]
            for (index, token) in foreign.enumerated() {
                #expect(try await bridge.post(token: token) == 401, "\(index)")
            }
            let bodies: [([UInt8], Int)] = [
                (Array("not JSON".utf8), 400), (Array("{}".utf8), 400),
                (Array(#"{"login_hint":"customer-1","login_hint":"customer-2"}"#.utf8), 400),
                (Array(#"{"login_hint":"customer-1","is_consent_required":"no"}"#.utf8), 400),
                ([UInt8](repeating: 0x20, count: 16 * 1024 + 1), 413),
            ]
            for (body, status) in bodies {
                #expect(try await bridge.post(bytes: body, token: try await keycloak.token()) == status)
            }
            #expect(try await bridge.count() == 0)
        }
    }

    @Test("Keycloak is told again while it is away, and not after it has answered")
    func toldAgain() async throws {
        try await Self.with(answering: [503, 503, 200, 403]) { bridge in
            for expected in [["SUCCEED", "SUCCEED", "SUCCEED"], ["SUCCEED"]] {
                let token = try await bridge.keycloak.token()
                #expect(try await bridge.post(token: token) == 201)
                let answered = try await bridge.tool.run("device", "answer", try await bridge.pending(), "--approve")
                #expect(answered.status == 0, "\(answered.errors)")
                for status in expected { #expect(await bridge.keycloak.callback()?.status(under: token) == status) }
            }
            // A fifth callback would come before this one.
            let last = try await bridge.keycloak.token()
            #expect(try await bridge.post(token: last) == 201)
            _ = try await bridge.tool.run("device", "answer", try await bridge.pending(), "--deny")
            #expect(await bridge.keycloak.callback()?.status(under: last) == "CANCELLED")
        }
    }

    @Test(
        "Nothing goes in clear over a network, and nothing starts without a client's credential",
        arguments: [
            ("http://keycloak.example.com/realms/acme", "http://127.0.0.1:1", "cli_1:s", "https URLs"),
            ("https://keycloak.example.com/realms/acme/", "http://127.0.0.1:1", "cli_1:s", "https URLs"),
            ("https://keycloak.example.com/realms/acme", "http://login.example.com", "cli_1:s", "https URLs"),
            ("https://keycloak.example.com/realms/acme", "http://127.0.0.1:1", "operator", "COUNTERSIGN_TOKEN"),
        ])
    func settings(realm: String, countersign: String, token: String, complaint: String) async throws {
        let result = try await RunningProgram.run(
            try Bridge.path, ["--realm", realm, "--countersign", countersign],
            environment: ["COUNTERSIGN_TOKEN": token])
        #expect(result.status != 0 && result.errors.contains(complaint), "\(result.errors)")
    }
}
