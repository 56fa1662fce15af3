import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// A client of the profile `strict`: with a key by which it authenticates, and one to which its tokens are bound.
struct StrictScene: Sendable {
    static let redirectURI = "https://bank.example.com/callback"

    let scene: SignInPageScene
    /// Its tokens are bound to it.
    let key: TestKey
    /// By it the client authenticates.
    let signer = P256.Signing.PrivateKey()

    var issuer: String { "\(scene.server.issuer)" }

    /// - Parameters:
    ///   - settings: further settings of the client.
    ///   - others: further keys by which it may authenticate.
    ///   - body: what to do.
    static func with(
        _ settings: JSONObject = [:], others: [JWK] = [],
        _ body: @escaping @Sendable (StrictScene) async throws -> Void
    ) async throws {
        try await SignInPageScene.with { scene in
            let made = StrictScene(scene: scene, key: TestKey(scene.server))
            try await scene.set(made.settings(settings, others: others))
            try await body(made)
        }
    }

    func settings(_ more: JSONObject = [:], others: [JWK] = []) -> JSONObject {
        var settings: JSONObject = [
            "profile": "strict", "redirect_uris": [.string(Self.redirectURI)], "asked_browsers": "all",
            "jwks": JWKSet([JWK(signer.publicKey)] + others).json,
        ]
        for member in more.members { settings[member.name] = member.value }
        return settings
    }

    /// An assertion with changed claims; nil leaves a claim out.
    func assertion(
        _ changes: [String: JSONValue?] = [:], by other: (any JWSSigningKey)? = nil, keyID: String? = nil,
        type: String? = nil
    ) async throws -> String {
        let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
        var claims: JSONObject = [
            "iss": .string(id), "sub": .string(id), "aud": .string(issuer), "iat": .integer(now),
            "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
        ]
        for (name, value) in changes { claims[name] = value }
        let key = other ?? signer
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: type, by: key, keyID: keyID ?? key.jwsPublicKey.thumbprint)
    }

    /// The fields of a form that show an assertion.
    static func fields(of assertion: String) -> [(String, String)] {
        [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ]
    }

    /// Sends a form with an assertion, and with proofs where there is a key.
    func send(
        _ path: String, _ fields: [(String, String)], assertion text: String? = nil, by key: TestKey? = nil
    ) async throws -> Reply {
        let assertion = if let text { text } else { try await self.assertion() }
        let all = fields + Self.fields(of: assertion)
        guard let key else { return try await scene.token(all, at: path) }
        return try await key.send(.POST, path, all)
    }

    /// The parameters of the usual request, with changes; nil leaves a parameter out.
    func parameters(_ changes: KeyValuePairs<String, String?> = [:]) -> [(String, String)] {
        var parameters: [(String, String?)] = [
            ("client_id", scene.credential.id), ("redirect_uri", Self.redirectURI), ("response_type", "code"),
            ("scope", "openid"), ("state", "s-1"), ("nonce", "n-1"), ("code_challenge", SignInPageScene.challenge),
            ("code_challenge_method", "S256"),
        ]
        parameters.removeAll { parameter in changes.contains { $0.key == parameter.0 } }
        for (name, value) in changes { parameters.append((name, value)) }
        return parameters.compactMap { name, value in value.map { (name, $0) } }
    }

    func push(
        _ changes: KeyValuePairs<String, String?> = [:], assertion: String? = nil, by key: TestKey? = nil
    ) async throws -> Reply {
        try await send("/oauth2/par", parameters(changes), assertion: assertion, by: key)
    }

    /// The path to which the client sends a browser with a request that it has pushed.
    func link(_ changes: KeyValuePairs<String, String?> = [:], by key: TestKey? = nil) async throws -> String {
        let reply = try await push(changes, by: key)
        #expect(reply.status == 201, "\(reply)")
        return scene.link(to: try #require(reply.json["request_uri"]?.string))
    }

    /// The page, or the redirect of a browser that is signed in, that leads the browser back to the client.
    func signIn(_ changes: KeyValuePairs<String, String?> = [:], by key: TestKey? = nil) async throws -> Page {
        let first = try await scene.browser.get(try await link(changes, by: key))
        guard first.location == nil else { return first }
        let (path, page) = try await scene.numberPage(from: first, in: scene.browser)
        try await scene.approve(page)
        return try await scene.browser.get("\(path)/done")
    }

    /// A code for the client.
    func code(_ changes: KeyValuePairs<String, String?> = [:], by key: TestKey? = nil) async throws -> String {
        let page = try await signIn(changes, by: key)
        return try #require(page.result["code"], "\(page.reply)")
    }

    func redeemFields(_ code: String, verifier: String? = SignInPageScene.verifier) -> [(String, String)] {
        let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI)]
        return fields + (verifier.map { [("code_verifier", $0)] } ?? [])
    }

    func redeem(_ code: String, by other: TestKey? = nil) async throws -> Reply {
        try await send("/oauth2/token", redeemFields(code), by: other ?? key)
    }

    /// The claims of a token, unverified.
    static func claims(of token: String) throws -> JSONValue { try part(1, of: token) }

    static func header(of token: String) throws -> JSONValue { try part(0, of: token) }

    private static func part(_ index: Int, of token: String) throws -> JSONValue {
        let part = try #require(token.split(separator: ".").dropFirst(index).first)
        return try JSONValue(parsing: try #require(Base64URL.decode(part)))
    }
}
