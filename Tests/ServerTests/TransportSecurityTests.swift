import CountersignWire
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 6797 §6.1, §7.1, §7.2; FAPI 2.0 Security Profile §5.2.3.
@Suite("Browsers that have called a server by https once call it by nothing else")
struct TransportSecurityTests {
    private static func with(
        _ issuer: Issuer?, mostLoad: Int? = nil, _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"),
            settings: { settings in
                settings.issuer = issuer
                if let mostLoad { settings.mostLoad = mostLoad }
            }, body)
    }

    private static func field(_ server: TestServer, _ path: String) async throws -> String? {
        try await server.send(.GET, path, isContract: false).headers["strict-transport-security"]
    }

    @Test("Every reply of an https issuer says so for a year: a page, a reply, a refusal, and one under load")
    func https() async throws {
        let issuer = Issuer("https://login.example.com")
        try await Self.with(issuer) { server in
            for path in ["/oauth2/authorize", "/.well-known/openid-configuration", "/nowhere", "/v1/users", "/readyz"] {
                let field = try await Self.field(server, path)
                #expect(field == "max-age=31536000", "\(path)")
            }
        }
        try await Self.with(issuer, mostLoad: 0) { server in
            let field = try await Self.field(server, "/oauth2/authorize")
            #expect(field == "max-age=31536000")
        }
    }

    @Test(
        "Without TLS, and on this machine's own names, nothing is said: other programs share them",
        arguments: [nil, Issuer("https://localhost:8443"), Issuer("https://127.0.0.1:8443")])
    func loopback(_ issuer: Issuer?) async throws {
        try await Self.with(issuer) { server in
            for path in ["/oauth2/authorize", "/readyz"] {
                let field = try await Self.field(server, path)
                #expect(field == nil, "\(path)")
            }
        }
    }
}
