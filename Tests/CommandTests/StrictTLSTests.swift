import Encodings
import Foundation
import TestSupport
import Testing

// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2; RFC 8705 §2.2, §3.
@Suite("A bank with a certificate of its own, at the server's own TLS, spoken to by curl", .timeLimit(.minutes(15)))
struct StrictTLSTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let returnURI = "https://bank.example.com/callback"

    /// A server with TLS, a bank with a certificate, somebody else with another one, and a customer with a phone.
    private struct Scene {
        let folder: TemporaryFolder
        let server: RunningProgram
        let url: String
        let curl: String
        let bank: TemporaryFolder
        let other: TemporaryFolder

        init() async throws {
            curl = try #require(Program.path(of: "curl"))
            folder = try TemporaryFolder()
            bank = try TemporaryFolder()
            other = try TemporaryFolder()
            for each in [folder, bank, other] { try await each.writeCertificate() }
            let (server, told) = try await ServedTool.start(
                in: folder,
                [
                    "--tls-certificate", folder.path("tls.pem"), "--tls-key", folder.path("tls.key"),
                    "--client-certificates-from", "tls",
                ], environment: ["COUNTERSIGN_LOG_LEVEL": "notice"])
            self.server = server
            url = try #require(told["issuer"]?.string)
        }

        /// Runs a command that must be done.
        func run(_ arguments: [String], as token: String) async throws -> JSONValue {
            let result = try await Tool.run(
                arguments + ["--json"],
                environment: [
                    "COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": token, "SSL_CERT_FILE": folder.path("tls.pem"),
                    "COUNTERSIGN_DEVICE_HOME": folder.path("phone"),
                ])
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            return try result.json()
        }

        /// What curl gets: the body, the status, and where a redirect leads to.
        func request(
            _ path: String, _ fields: [(String, String)], _ options: [String]
        ) async throws -> (body: String, status: String, location: String) {
            var arguments = ["-s", "--cacert", folder.path("tls.pem"), "-w", "\n%{http_code}\n%{redirect_url}"]
            arguments += options
            for (name, value) in fields { arguments += ["--data-urlencode", "\(name)=\(value)"] }
            arguments.append(path.hasPrefix("https:") ? path : url + path)
            let result = try await RunningProgram.run(curl, arguments)
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let count = lines.count
            guard count > 2 else { return (result.errors, "none", "") }
            return (lines[..<(count - 2)].joined(separator: "\n"), lines[count - 2], lines[count - 1])
        }

        /// A request on a connection with this certificate; nil for none.
        func send(
            _ path: String, _ fields: [(String, String)] = [], by caller: TemporaryFolder?, _ options: [String] = []
        ) async throws -> (status: String, json: JSONValue) {
            let certificate = caller.map { ["--cert", $0.path("tls.pem"), "--key", $0.path("tls.key")] } ?? []
            let reply = try await request(path, fields, certificate + options)
            return (reply.status, try JSONValue(parsing: Array(reply.body.utf8)))
        }

        /// What a browser gets, which keeps cookies and has no certificate.
        func browse(
            _ path: String, _ fields: [(String, String)] = []
        ) async throws -> (body: String, status: String, location: String) {
            let cookies = folder.path("cookies")
            return try await request(path, fields, ["-b", cookies, "-c", cookies])
        }
    }

    /// The code of a sign-in, which the customer approves on the phone.
    private func code(_ scene: Scene, _ client: String) async throws -> String {
        let fields = [
            ("client_id", client), ("redirect_uri", Self.returnURI), ("response_type", "code"),
            ("scope", "openid offline_access"), ("code_challenge", Self.challenge), ("code_challenge_method", "S256"),
            ("login_hint", "customer-1@example.com"),
        ]
        for caller in [nil, scene.other] {
            let refused = try await scene.send("/oauth2/par", fields, by: caller)
            #expect(refused.status == "401" && refused.json["error"] == "invalid_client", "\(refused)")
        }
        let pushed = try await scene.send("/oauth2/par", fields, by: scene.bank)
        let uri = try #require(pushed.json["request_uri"]?.string, "\(pushed)")
        let page = try await scene.browse("/oauth2/authorize?client_id=\(client)&request_uri=\(uri)")
        let sealed = try #require(page.body.firstMatch(of: #/name="request" value="([^"]*)"/#), "\(page)").output.1
        let asked = try await scene.browse("/signin/ask", [("request", String(sealed)), ("way", "device")])
        #expect(asked.status == "303", "\(asked)")
        let shown = try await scene.browse(asked.location)
        let number = try #require(shown.body.firstMatch(of: #/aria-label="([0-9 ,]+)"/#), "\(shown)").output.1
        var pending: JSONValue?
        while pending == nil {
            pending = try await scene.run(["device", "pending"], as: "none")["challenges"]?.array?.first
            if pending == nil { try await Task.sleep(for: .milliseconds(50)) }
        }
        let id = try #require(pending?["id"]?.string)
        _ = try await scene.run(
            ["device", "answer", id, "--approve", "--number", String(number.filter(\.isNumber))], as: "none")
        let done = try await scene.browse("\(asked.location)/done")
        let refresh = try #require(
            done.body.firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#), "\(done)")
        let onward = String(refresh.output.1).replacing("&amp;", with: "&")
        let items = try #require(URLComponents(string: onward)?.queryItems)
        #expect(items.first { $0.name == "iss" }?.value == scene.url && onward.hasPrefix(Self.returnURI))
        return try #require(items.first { $0.name == "code" }?.value)
    }

    // Modules: happy-flow, ensure-holder-of-key-required, refresh-token
    @Test("fapi2-security-profile-final-happy-flow, -ensure-holder-of-key-required, -refresh-token: in TLS itself")
    func wholeFlow() async throws {
        let scene = try await Scene()
        let token = try String(contentsOfFile: scene.folder.path("server data/bootstrap.token"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let made = try await scene.run(["client", "create", "--name", "ACME Bank"], as: token)
        let id = try #require(made["client_id"]?.string)
        let bank = "\(id):\(try #require(made["client_secret"]?.string))"
        let user = ["user", "create", "--external-id", "customer-1", "--email", "customer-1@example.com"]
        _ = try await scene.run(user, as: bank)
        let ticket = try #require(try await scene.run(["user", "ticket", "customer-1"], as: bank)["qr"]?.string)
        _ = try await scene.run(["device", "enroll", "--ticket", ticket], as: "none")
        _ = try await scene.run(
            [
                "client", "openid", "set", id, "--profile", "strict", "--redirect-uri", Self.returnURI,
                "--asked-browsers", "all", "--self-signed-certificate", scene.bank.path("tls.pem"),
                "--certificate-bound-access-tokens",
            ], as: token)
        let redeem = [
            ("grant_type", "authorization_code"), ("code", try await code(scene, id)), ("client_id", id),
            ("redirect_uri", Self.returnURI), ("code_verifier", Self.verifier),
        ]
        for caller in [nil, scene.other] {
            let refused = try await scene.send("/oauth2/token", redeem, by: caller)
            #expect(refused.status == "401" && refused.json["error"] == "invalid_client", "\(refused)")
        }
        let given = try await scene.send("/oauth2/token", redeem, by: scene.bank)
        #expect(given.status == "200" && given.json["id_token"] != nil, "\(given)")
        let refresh = [
            ("grant_type", "refresh_token"), ("refresh_token", given.json["refresh_token"]?.string ?? ""),
            ("client_id", id),
        ]
        let stolen = try await scene.send("/oauth2/token", refresh, by: scene.other)
        #expect(stolen.status == "401" && stolen.json["error"] == "invalid_client", "\(stolen)")
        let again = try await scene.send("/oauth2/token", refresh, by: scene.bank)
        #expect(again.status == "200" && again.json["refresh_token"] == given.json["refresh_token"], "\(again)")
        for tokens in [given.json, again.json] {
            let header = ["-H", "Authorization: Bearer \(try #require(tokens["access_token"]?.string))"]
            let shown = try await scene.send("/oauth2/userinfo", by: scene.bank, header)
            #expect(shown.status == "200" && shown.json["sub"] != nil, "\(shown)")
            for caller in [nil, scene.other] {
                let refused = try await scene.send("/oauth2/userinfo", by: caller, header)
                #expect(refused.status == "401" && refused.json["error"] == "invalid_token", "\(refused)")
            }
        }
        scene.server.send(SIGTERM)
        #expect(try await scene.server.result().status == 0)
    }
}
