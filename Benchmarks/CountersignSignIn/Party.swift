import BenchmarkSupport
import CountersignWire
import Crypto
import Encodings
import Foundation
import NIOHTTP1

/// A client that signs people in.
struct Party: Sendable {
    /// Where browsers return to; nobody follows the redirect.
    static let redirectURI = "https://shop.example.com/callback"

    /// Its id.
    let id: String
    /// Its connection to the API.
    let portal: PortalConnection
    /// Whether it keeps a secret, and gets ID tokens signed by RS256; otherwise by ES256.
    let isWeb: Bool

    /// The host of its requests.
    var host: String { String(portal.deployment.issuer.dropFirst("http://".count)) }
    /// How its ID tokens are signed.
    var algorithm: String { isWeb ? "RS256" : "ES256" }

    /// Adds a client, whose people are all users.
    init(_ name: String, isWeb: Bool, by operating: PortalConnection) async throws {
        (id, portal) = try await operating.addClient(["name": .string(name)])
        self.isWeb = isWeb
        _ = try await operating.call(
            .PUT, "/v1/admin/clients/\(id)/openid",
            [
                "profile": isWeb ? "web" : "spa", "redirect_uris": [.string(Self.redirectURI)], "registration": "known",
                "asked_browsers": "all", "ways": ["device", "qr", "passkey"],
            ])
    }

    /// The path of an authorization request.
    ///
    /// - Parameters:
    ///   - verifier: the code verifier of PKCE.
    ///   - person: the client's own name for the person; nil to name nobody.
    func authorizing(_ verifier: String, person: String? = nil) -> String {
        let challenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))
        var fields = [
            ("client_id", id), ("redirect_uri", Self.redirectURI), ("response_type", "code"),
            ("scope", "openid email offline_access"), ("state", String(verifier.prefix(22))),
            ("nonce", String(verifier.suffix(21))), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        if let person { fields.append(("login_hint", "external_id:\(person)")) }
        return "/oauth2/authorize?\(FormText.encoded(fields))"
    }

    /// A request to the token endpoint or one like it, by which the client says who it is.
    func posting(_ form: [(String, String)], to path: String = "/oauth2/token") -> PreparedRequest {
        isWeb
            ? PreparedRequest(path, at: host, [("Authorization", portal.authorization)], form: form)
            : PreparedRequest(path, at: host, form: form + [("client_id", id)])
    }

    /// A request for the tokens of a code.
    func redeeming(_ code: Code) -> PreparedRequest {
        var request = posting([
            ("grant_type", "authorization_code"), ("code", code.text), ("redirect_uri", Self.redirectURI),
            ("code_verifier", code.verifier),
        ])
        request.notAfter = code.at + Code.oldest
        return request
    }
}
