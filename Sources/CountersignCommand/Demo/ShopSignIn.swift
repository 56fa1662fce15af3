import AsyncHTTPClient
import Crypto
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// How the shop signs its customers in: an ordinary client of the OpenID provider, by the code flow with PKCE.
actor ShopSignIn {
    /// Who is signed in, as the shop shows them.
    struct Customer: Sendable {
        /// The name to show: the address, or else the provider's id.
        let name: String
        /// Whether the person has proved the address.
        let isVerified: Bool
        /// How they signed in, in the words of `amr`.
        let methods: [String]
    }

    /// A sign-in that has begun in a browser.
    private struct Begun {
        let browser: String
        let verifier: String
        let nonce: String
    }

    /// What of a sign-in was not as it should be.
    private struct Refused: Error {}

    private let issuer: String
    private let clientID: String
    private let secret: Secret<String>
    private var redirectURI = ""
    /// By `state`.
    private var begun: [String: Begun] = [:]
    /// By the cookie of the browser.
    private var customers: [String: Customer] = [:]

    init(issuer: String, clientID: String, secret: Secret<String>) {
        self.issuer = issuer
        self.clientID = clientID
        self.secret = secret
    }

    /// Says where the shop is served.
    func serve(at uri: String) { redirectURI = uri }

    /// A value that nobody can guess.
    static func random() -> String { Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) }) }

    /// Who is signed in in a browser; nil for nobody.
    func customer(in browser: String?) -> Customer? { browser.flatMap { customers[$0] } }

    /// Signs a browser out of the shop.
    func signOut(_ browser: String) { customers[browser] = nil }

    /// Where a browser goes to sign in.
    func begin(in browser: String) -> String {
        let (state, verifier, nonce) = (Self.random(), Self.random(), Self.random())
        begun[state] = Begun(browser: browser, verifier: verifier, nonce: nonce)
        let challenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))
        let query = [
            ("client_id", clientID), ("redirect_uri", redirectURI), ("response_type", "code"),
            ("scope", "openid email"), ("state", state), ("nonce", nonce), ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
        ]
        return "\(issuer)/oauth2/authorize?\(FormText.encoded(query))"
    }

    /// Takes what the browser brings back.
    ///
    /// - Parameters:
    ///   - answer: the parameters of the redirect.
    ///   - browser: the browser's cookie.
    /// - Returns: false if the person did not sign in, or if it is not the answer to what this browser began.
    func finish(_ answer: [String: String], in browser: String?) async throws -> Bool {
        guard let state = answer["state"], let found = begun.removeValue(forKey: state), found.browser == browser,
            answer["iss"] == issuer, let code = answer["code"]
        else { return false }
        let tokens = try await post(
            "/oauth2/token",
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
                ("code_verifier", found.verifier),
            ])
        guard let identity = tokens["id_token"]?.string, let access = tokens["access_token"]?.string else {
            throw Refused()
        }
        let claims = try Self.claims(of: identity)
        guard claims["iss"] == .string(issuer), claims["aud"] == .string(clientID),
            claims["nonce"] == .string(found.nonce), let subject = claims["sub"]?.string,
            let end = claims["exp"]?.integer, Date().timeIntervalSince1970 < Double(end)
        else { throw Refused() }
        let info = try await userinfo(access)
        guard info["sub"] == .string(subject) else { throw Refused() }
        customers[found.browser] = Customer(
            name: info["email"]?.string ?? subject, isVerified: info["email_verified"] == true,
            methods: claims["amr"]?.array?.compactMap(\.string) ?? [])
        return true
    }

    /// The claims of an ID token that came from the token endpoint itself, whose signature then need not be checked.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.3.7, no. 6.
    private static func claims(of token: String) throws -> JSONValue {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { throw Refused() }
        return try JSONValue(parsing: payload)
    }

    private func userinfo(_ token: String) async throws -> JSONValue {
        var request = HTTPClientRequest(url: "\(issuer)/oauth2/userinfo")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        return try await Self.reply(to: request)
    }

    private func post(_ path: String, _ fields: [(String, String)]) async throws -> JSONValue {
        var request = HTTPClientRequest(url: issuer + path)
        request.method = .POST
        let pair = "\(clientID):\(secret.reveal())"
        request.headers.add(name: "Authorization", value: "Basic \(Base64.encode(Array(pair.utf8)))")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: FormText.encoded(fields)))
        return try await Self.reply(to: request)
    }

    private static func reply(to request: HTTPClientRequest) async throws -> JSONValue {
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        guard response.status == .ok else { throw Refused() }
        return try JSONValue(parsing: Array(try await response.body.collect(upTo: 1 << 16).readableBytesView))
    }
}
