import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

extension SignInPageScene {
    /// A scene behind a proxy that hands on certificates.
    ///
    /// - Parameters:
    ///   - source: from where certificates come.
    ///   - networks: the proxies that are trusted; this machine's by default.
    ///   - url: where clients with certificates call; nil for the issuer.
    ///   - settings: the client's settings.
    ///   - body: the body to run.
    static func withCertificates(
        from source: CertificateSource = .proxy, trusting networks: [String] = ["127.0.0.0/8"], at url: Issuer? = nil,
        _ settings: JSONObject = ["asked_browsers": "all"],
        _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"),
            settings: {
                $0.proxies = TrustedProxies(networks: networks.compactMap { Network($0) }, certificates: source)
                $0.certificateURL = url
            }
        ) { server in
            let scene = try await Scene.make(server)
            let made = SignInPageScene(scene: scene, browser: TestBrowser(server), credential: scene.shop.credential)
            try await made.set(settings)
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", claim).status == 200)
            try await body(made)
        }
    }

    /// The client's id as a field of a form.
    var id: [(String, String)] { [("client_id", credential.id)] }

    /// Sends a form as the proxy hands it on.
    ///
    /// - Parameters:
    ///   - fields: the form.
    ///   - certificate: the certificate of the proxy's client; nil for none.
    ///   - path: the endpoint.
    ///   - headers: more header fields.
    func send(
        _ fields: [(String, String)], with certificate: TestCertificate?, at path: String = "/oauth2/token",
        _ headers: [(String, String)] = []
    ) async throws -> Reply {
        try await server.send(
            .POST, path,
            headers: [("Content-Type", "application/x-www-form-urlencoded")] + Self.field(certificate) + headers,
            body: Array(FormText.encoded(fields).utf8), isContract: false)
    }

    /// Shows a token as the proxy hands it on.
    func show(
        _ authorization: String, with certificate: TestCertificate?, at path: String = "/oauth2/userinfo"
    ) async throws -> Reply {
        try await server.send(
            .GET, path, headers: [("Authorization", authorization)] + Self.field(certificate),
            isContract: !path.hasPrefix("/oauth2/"))
    }

    static func field(_ certificate: TestCertificate?) -> [(String, String)] {
        certificate.map { [(ClientCertificateField.name, ClientCertificateField.value(of: $0.bytes))] } ?? []
    }
}

extension TestCertificate {
    /// Its hash, as it is registered and in tokens.
    var thumbprint: String { ClientCertificate(bytes, isVerified: false).thumbprint }
}
