import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import Testing

@testable import CountersignServer

/// A bank whose server has its customers asked by signed requests, and whose tokens are bound.
struct AskingBank: Sendable {
    /// How it authenticates, and to what its tokens are bound.
    enum Kind: CaseIterable, Sendable {
        /// A strict client: by assertions, and to a key.
        case assertion
        /// A strict client: by its certificate, and to it.
        case certificate
        /// A client of the profile `web`, as the conformance suite's by `private_key_jwt`: by assertions that are for the
        /// token endpoint, and to its certificate.
        case suite
    }

    static let path = OAuthDoor.backchannelPath

    let strict: StrictScene
    let kind: Kind
    /// The common name in its certificate.
    let name: String
    let certificate: TestCertificate
    /// Where it is told of decisions; nil if it is not.
    let receiver: String?

    var scene: SignInPageScene { strict.scene }

    /// - Parameters:
    ///   - kind: how it authenticates.
    ///   - receiver: where it is told of decisions; nil if it polls alone.
    ///   - settings: further settings.
    ///   - others: further keys by which it may sign.
    ///   - body: what to do.
    static func with(
        _ kind: Kind, pingedAt receiver: String? = nil, _ settings: JSONObject = JSONObject(), others: [JWK] = [],
        _ body: @escaping @Sendable (AskingBank) async throws -> Void
    ) async throws {
        let run: @Sendable (SignInPageScene) async throws -> Void = { scene in
            let bank = try AskingBank(scene, kind, named: "bank", pingedAt: receiver)
            try await scene.set(bank.settings(settings, others: others))
            try await body(bank)
        }
        let usual: JSONObject = ["asked_browsers": "all"]
        switch kind {
        case .assertion: try await SignInPageScene.with(usual, run)
        case .certificate, .suite: try await SignInPageScene.withCertificates(usual, run)
        }
    }

    private init(
        _ scene: SignInPageScene, _ kind: Kind, named name: String, pingedAt receiver: String?
    ) throws {
        strict = StrictScene(scene: scene, key: TestKey(scene.server))
        self.kind = kind
        self.name = name
        certificate = try TestCertificate(named: name)
        self.receiver = receiver
    }

    /// Another bank, which is registered in the same way, with keys or a certificate of its own.
    func other() async throws -> AskingBank {
        let client = try await scene.server.makeClient("Other")
        let bank = try AskingBank(
            SignInPageScene(scene: scene.scene, browser: scene.browser, credential: client.credential), kind,
            named: "other", pingedAt: receiver)
        try await bank.scene.set(bank.settings())
        return bank
    }

    func settings(_ more: JSONObject = JSONObject(), others: [JWK] = []) -> JSONObject {
        var settings = strict.settings(
            [
                "backchannel_number_entry": true, "backchannel_authentication_request_signing_alg": "ES256",
                "backchannel_token_delivery_mode": receiver == nil ? "poll" : "ping",
            ], others: others)
        if let receiver { settings["backchannel_client_notification_endpoint"] = .string(receiver) }
        switch kind {
        case .assertion: break
        case .certificate:
            settings["tls_client_auth_subject_dn"] = .string("CN=\(name)")
            settings["tls_client_certificate_bound_access_tokens"] = true
        case .suite:
            settings["profile"] = "web"
            settings["id_token_signed_response_alg"] = "ES256"
            settings["tls_client_certificate_bound_access_tokens"] = true
        }
        for member in more.members { settings[member.name] = member.value }
        return settings
    }

    /// A request with changed claims; nil leaves a claim out.
    func sign(
        _ changes: [String: JSONValue?] = [:], by other: (any JWSSigningKey)? = nil, keyID: String? = nil,
        type: String? = nil
    ) async throws -> String {
        let now = scene.server.clock.now.seconds
        var claims: [String: JSONValue?] = [
            "sub": nil, "nbf": .integer(now), "exp": .integer(now + 300), "scope": "openid",
            "login_hint": "customer-1@example.com", "binding_message": "W4SCT",
        ]
        if receiver != nil { claims["client_notification_token"] = .some("t-1") }
        claims.merge(changes) { $1 }
        return try await strict.assertion(claims, by: other, keyID: keyID, type: type)
    }

    /// An assertion for whom it is usually for, with changed claims.
    func assertion(
        _ changes: [String: JSONValue?] = [:], by other: (any JWSSigningKey)? = nil
    ) async throws -> String {
        var claims: [String: JSONValue?] = [:]
        if kind == .suite { claims["aud"] = .some(.string("\(strict.issuer)/oauth2/token")) }
        claims.merge(changes) { $1 }
        return try await strict.assertion(claims, by: other)
    }

    /// Sends a form, with what authenticates the bank and what its tokens are bound to.
    ///
    /// - Parameters:
    ///   - path: the endpoint.
    ///   - fields: the form.
    ///   - text: the assertion; nil for a good one.
    ///   - client: the id that it names; its own where nil.
    func send(
        _ path: String, _ fields: [(String, String)], assertion text: String? = nil, as client: String? = nil
    ) async throws -> Reply {
        if kind == .certificate {
            let id = [("client_id", client ?? scene.credential.id)]
            return try await scene.send(fields + id, with: certificate, at: path)
        }
        let assertion = if let text { text } else { try await self.assertion() }
        let all = fields + (client.map { [("client_id", $0)] } ?? [])
        if kind == .suite {
            return try await scene.send(all + StrictScene.fields(of: assertion), with: certificate, at: path)
        }
        return try await strict.send(path, all, assertion: assertion, by: strict.key)
    }

    func ask(_ changes: [String: JSONValue?] = [:]) async throws -> Reply {
        try await send(Self.path, [("request", try await sign(changes))])
    }

    /// The form of a poll.
    func pollFields(_ begun: Reply) throws -> [(String, String)] {
        let id = try #require(begun.json["auth_req_id"]?.string, "\(begun)")
        return [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)]
    }

    /// Polls, after a pause.
    func poll(_ begun: Reply, after seconds: Int64 = 5) async throws -> Reply {
        scene.server.clock.advance(seconds: seconds)
        return try await send("/oauth2/token", try pollFields(begun))
    }

    /// The status with which userinfo answers its token.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - isProved: whether it proves that the token is its own.
    func userinfo(_ token: String, isProved: Bool = true) async throws -> Int {
        switch (kind, isProved) {
        case (.certificate, _), (.suite, _):
            try await scene.show("Bearer \(token)", with: isProved ? certificate : nil).status
        case (_, true): try await strict.key.send(.GET, "/oauth2/userinfo", token: token).status
        case (_, false): try await scene.userinfo(token).status
        }
    }
}
