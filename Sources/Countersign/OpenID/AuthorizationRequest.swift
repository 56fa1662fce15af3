import CountersignWire
import Crypto
import Encodings
import Foundation

/// What an app may ask of a sign-in, besides that it happens.
public struct SignInRequest: Hashable, Sendable {
    /// Who is to sign in, as the issuer's page should suggest; nil for no suggestion.
    public var loginHint: String?
    /// The oldest authentication, in seconds, that the app takes; nil for any.
    ///
    /// The ID token then has to say when the person signed in. Spec: OpenID Connect Core 1.0 §3.1.2.1.
    public var maxAge: Int64?
    /// The ways of signing in of which the app takes any, best first; empty for all.
    ///
    /// An issuer is free to sign the person in by another way. The app then gets ``IDTokenFault/acr``, because it has
    /// asked for more. Spec: OpenID Connect Core 1.0 §3.1.2.1.
    public var acrValues: [String]
    /// Whether the person must sign in anew, even if the browser is signed in.
    public var mustSignInAnew: Bool

    /// A request of these parts.
    public init(
        loginHint: String? = nil, maxAge: Int64? = nil, acrValues: [String] = [], mustSignInAnew: Bool = false
    ) {
        self.loginHint = loginHint
        self.maxAge = maxAge
        self.acrValues = acrValues
        self.mustSignInAnew = mustSignInAnew
    }
}

/// One authorization request, with the secrets that its response must fit.
struct AuthorizationRequest: Sendable {
    let registration: CheckedRegistration
    let wanted: SignInRequest
    /// The thumbprint of the key that will redeem the code; nil for none.
    ///
    /// Spec: RFC 9449 §10.
    let keyThumbprint: String?
    let verifier = Secret(Self.random())
    let state = Secret(Self.random())
    let nonce = Secret(Self.random())

    /// 256 random bits in base64url.
    ///
    /// Spec: RFC 7636 §4.1 (43 unreserved characters), §7.1 (at least 256 bits).
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in generator.next() as UInt8 })
    }

    /// The URL that the browser opens.
    ///
    /// Spec: RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2.1, OpenID Connect Core 1.0 §3.1.2.1.
    func url(at endpoint: URL) throws(CountersignError) -> URL {
        var fields = [
            ("response_type", "code"), ("client_id", registration.clientID),
            ("redirect_uri", registration.redirectURI.description),
            ("scope", (registration.scopes + registration.apis.flatMap(\.scopes)).joined(separator: " ")),
            ("state", state.reveal()),
            ("nonce", nonce.reveal()),
            ("code_challenge", Base64URL.encode(Array(SHA256.hash(data: Array(verifier.reveal().utf8))))),
            ("code_challenge_method", "S256"),
        ]
        fields += registration.apis.map { ("resource", $0.identifier) }
        if let hint = wanted.loginHint { fields.append(("login_hint", hint)) }
        if let age = wanted.maxAge { fields.append(("max_age", "\(max(0, age))")) }
        if !wanted.acrValues.isEmpty { fields.append(("acr_values", wanted.acrValues.joined(separator: " "))) }
        if let keyThumbprint { fields.append(("dpop_jkt", keyThumbprint)) }
        if wanted.mustSignInAnew { fields.append(("prompt", "login")) }
        let separator = endpoint.query() == nil ? "?" : "&"
        guard let url = URL(string: endpoint.absoluteString + separator + FormText.encoded(fields)) else {
            throw .providerInvalid("its authorization endpoint is no URL")
        }
        return url
    }

    /// A parameter stands more than once.
    private struct Twice: Error {}

    /// The code in the URL at which the browser came back.
    ///
    /// The state is checked first, then the sender: an error that somebody made up is no error of the issuer's. Spec:
    /// RFC 6749 §4.1.2, RFC 9207 §2.4, RFC 9700 §4.7.1.
    func code(in response: URL) throws(CountersignError) -> Secret<String> {
        let text = response.absoluteString
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let place = registration.redirectURI.description.prefix { $0 != "?" }
        guard text[..<end].hasSameBytes(as: place), end < text.endIndex,
            let list = FormText.fields(in: text[text.index(after: end)...].prefix { $0 != "#" }),
            // Spec: RFC 6749 §3.1.
            let fields = try? Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { _, _ in throw Twice() })
        else { throw .signInResponse(.malformed) }
        guard let given = fields["state"], state.isSame(as: Secret(given)) else {
            throw .signInResponse(.wrongState)
        }
        guard let issuer = fields["iss"] else { throw .signInResponse(.noIssuer) }
        guard issuer.hasSameBytes(as: registration.issuer.description) else {
            throw .signInResponse(.otherIssuer)
        }
        if let error = fields["error"] { throw .signInRefused(SignInRefusal(code: error)) }
        guard let code = fields["code"], !code.isEmpty else { throw .signInResponse(.malformed) }
        return Secret(code)
    }
}
