import Countersign
import Crypto
import Encodings
import Foundation
import JOSE
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("A terminal signs in by an approval elsewhere", .timeLimit(.minutes(15)))
struct ElsewhereCommandTests {
    /// An issuer that answers polls by what it is given, and by tokens after that.
    private final class StandIn: Sendable {
        private let key = P256.Signing.PrivateKey()
        private let polls: Mutex<[String]>
        private let isEndless: Bool
        private let sent = Mutex<[(path: String, form: String)]>([])

        /// An issuer that says these errors; an endless one says the last one for ever.
        init(_ errors: [String], isEndless: Bool = false) {
            polls = Mutex(errors)
            self.isEndless = isEndless
        }

        func forms(_ path: String) -> [String] { sent.withLock { $0.filter { $0.path == path }.map(\.form) } }

        /// Waits until something was asked at a path.
        func wait(for path: String) async throws {
            while forms(path).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        }

        func reply(_ url: String, _ path: String, _ form: String) async throws -> (Int, JSONValue) {
            sent.withLock { $0.append((path, form)) }
            switch path {
            case "/.well-known/openid-configuration": return (200, document(url))
            case "/keys": return (200, JWKSet([JWK(key.publicKey)]).json)
            case "/device_authorization":
                return (
                    200,
                    [
                        "device_code": "the-device-code", "user_code": "WDJB-MJHT",
                        "verification_uri": .string("\(url)/device"), "expires_in": 60, "interval": 1,
                        "number": "042917",
                    ]
                )
            case "/token":
                let error: String? = polls.withLock { polls in
                    guard let first = polls.first else { return nil }
                    if !isEndless || polls.count > 1 { polls.removeFirst() }
                    return first
                }
                if let error { return (400, ["error": .string(error)]) }
                return (200, try await tokens(url))
            case "/revoke": return (200, [])
            default: return (404, [])
            }
        }

        private func document(_ url: String) -> JSONValue {
            [
                "issuer": .string(url), "authorization_endpoint": .string("\(url)/authorize"),
                "token_endpoint": .string("\(url)/token"), "jwks_uri": .string("\(url)/keys"),
                "revocation_endpoint": .string("\(url)/revoke"),
                "device_authorization_endpoint": .string("\(url)/device_authorization"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "id_token_signing_alg_values_supported": ["ES256"],
                "authorization_response_iss_parameter_supported": true,
            ]
        }

        private func tokens(_ url: String) async throws -> JSONValue {
            let now = SystemClock().millisecondsSince1970 / 1000
            let claims: JSONValue = [
                "iss": .string(url), "sub": "usr_1", "aud": "cli_app", "iat": .integer(now),
                "exp": .integer(now + 600), "acr": "urn:countersign:acr:device", "amr": ["swk", "user", "mca"],
            ]
            let token = try await JWS.sign(claims.encoded, type: "JWT", by: key, keyID: JWK(key.publicKey).keyID)
            return [
                "access_token": "access", "token_type": "Bearer", "expires_in": 600, "scope": "openid",
                "id_token": .string(token),
            ]
        }
    }

    private static func arguments(_ url: String, _ folder: TemporaryFolder, _ more: [String] = []) -> [String] {
        ["login", "--device", "--url", url, "--client", "cli_app", "--home", folder.path("second home")] + more
    }

    @Test("The number is on standard error, who signed in on standard output, and the tokens are in the folder")
    func approved() async throws {
        let standIn = StandIn(["authorization_pending"])
        try await LocalServer.with(replying: standIn.reply) { url in
            let folder = try TemporaryFolder()
            let hint = ["--login-hint", "anna@example.com", "--scope", "openid"]
            let result = try await Tool.run(Self.arguments(url, folder, hint))
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                result.output
                    == "Signed in: usr_1\nBy: swk, user, mca\nStrength: urn:countersign:acr:device\n")
            #expect(
                result.errors == """
                    Number to type on your device: 042917
                    Or open \(url)/device on another device, and type the code WDJB-MJHT.
                    Waiting for 60 seconds at most. End with Ctrl-C.

                    """)
            #expect(
                standIn.forms("/device_authorization") == [
                    "client_id=cli_app&scope=openid&login_hint=anna%40example.com&requested_expiry=60"
                ])
            let home = folder.path("second home")
            let out = try await Tool.run(["logout", "--issuer", url, "--client", "cli_app", "--home", home])
            #expect(out.status == 0 && out.output == "Signed out.\n", "\(out.errors)")
            #expect(standIn.forms("/revoke").count == 1)
        }
    }

    @Test(
        "A no and an end in time are told apart, also to scripts",
        arguments: [("access_denied", "sign_in_declined"), ("expired_token", "sign_in_expired")])
    func ended(_ error: String, _ code: String) async throws {
        let standIn = StandIn([error, error])
        try await LocalServer.with(replying: standIn.reply) { url in
            let folder = try TemporaryFolder()
            let result = try await Tool.run(Self.arguments(url, folder, ["--login-hint", "a", "--json"]))
            #expect(result.status == 1 && result.output.isEmpty)
            let lines = try result.errors.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.count == 2 && lines.first?["number"] == "042917" && lines.last?["code"] == .string(code))
            #expect(lines.first?["user_code"] == "WDJB-MJHT" && lines.first?["expires_in"] == 60)
            let plain = try await Tool.run(Self.arguments(url, folder))
            #expect(plain.status == 1 && plain.output.isEmpty)
        }
    }

    @Test("Ctrl-C takes back what was asked, before the command ends", arguments: [SIGINT, SIGTERM])
    func givenUp(_ signal: Int32) async throws {
        let standIn = StandIn(["authorization_pending"], isEndless: true)
        try await LocalServer.with(replying: standIn.reply) { url in
            let folder = try TemporaryFolder()
            let running = try Tool.start(Self.arguments(url, folder, ["--login-hint", "a", "--json"]))
            try await standIn.wait(for: "/token")
            running.send(signal)
            let result = try await running.result()
            #expect(result.status == 1 && result.output.isEmpty, "\(result)")
            let last = try #require(result.errors.split(separator: "\n").last)
            let report = try JSONValue(parsing: Array(last.utf8))
            #expect(report["code"] == "cancelled")
            #expect(standIn.forms("/revoke") == ["token=the-device-code&client_id=cli_app"])
        }
    }

    @Test("Without a number there are the address and the code, and on a terminal the address as a picture")
    func texts() async throws {
        let standIn = StandIn(["access_denied"])
        let shown = Mutex<SignInPrompt?>(nil)
        let url = try #require(URL(string: "https://login.example.com"))
        let place = try #require(LoopbackListener.redirectURI(port: nil))
        let app = try OpenIDClient(
            OpenIDRegistration(issuer: url, clientID: "cli_app", redirectURI: place), vault: MemoryVault(),
            transport: Replies { path in
                let (status, reply) = try await standIn.reply("\(url.absoluteString)", path, "")
                guard path == "/device_authorization", var object = reply.object else { return (status, reply) }
                object["number"] = nil
                object["verification_uri_complete"] = "https://login.example.com/device?user_code=WDJB-MJHT"
                return (status, .object(object))
            })
        _ = try? await app.signInElsewhere { prompt in shown.withLock { $0 = prompt } }
        let prompt = try #require(shown.withLock { $0 })
        let text = """
            Open this address on another device: https://login.example.com/device
            Code to type there: WDJB-MJHT
            Waiting for 60 seconds at most. End with Ctrl-C.
            """
        #expect(prompt.text(isPictured: false, inColours: true) == text)
        let pictured = prompt.text(isPictured: true, inColours: true)
        #expect(pictured.hasSuffix(text) && pictured.contains("█") && prompt.json["number"] == nil)
        let plain = pictured.replacing("\u{1B}[30;107m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(pictured != plain && prompt.text(isPictured: true, inColours: false) == plain)
    }

    /// A transport without a network.
    private struct Replies: Transport {
        let reply: @Sendable (_ path: String) async throws -> (Int, JSONValue)

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let (status, json) = try await reply(request.url.path)
            return TransportResponse(status: status, headers: [:], body: json.encoded)
        }
    }
}
