import CountersignWire
import Encodings
import Foundation
import JOSE

/// What an issuer says of itself, as far as an app needs it, checked.
///
/// Spec: OpenID Connect Discovery 1.0 §3 and §4.3, RFC 8414 §3.3.
struct ProviderMetadata: Sendable {
    /// The algorithms by which ID tokens are accepted, if the issuer signs by them.
    private static let accepted: [JWSAlgorithm] = [.es256, .rs256]

    let authorizationEndpoint: URL
    let tokenEndpoint: URL
    let keysURL: URL
    let userinfoEndpoint: URL?
    let revocationEndpoint: URL?
    let deviceAuthorizationEndpoint: URL?
    let algorithms: Set<JWSAlgorithm>
    /// Whether the issuer binds tokens to a key of the kind that we have.
    ///
    /// Spec: RFC 9449 §5.1.
    let bindsTokens: Bool

    /// Fetches the document of an issuer.
    static func fetched(
        of issuer: Issuer, by connection: ProviderConnection
    ) async throws(CountersignError) -> ProviderMetadata {
        guard let url = URL(string: issuer.uri("/.well-known/openid-configuration")) else {
            throw .configurationInvalid("the issuer is no URL")
        }
        let response = try await connection.get(url)
        guard response.status == 200 else { throw .serverUnreachable(status: response.status) }
        guard let document = try? JSONValue(parsing: response.body), document.object != nil else {
            throw .providerInvalid("its document is no JSON object")
        }
        return try ProviderMetadata(document, of: issuer)
    }

    init(_ document: JSONValue, of issuer: Issuer) throws(CountersignError) {
        // Byte for byte: an issuer that passes for another one is found out here. Spec: RFC 8414 §3.3.
        guard let name = document["issuer"]?.string, name.hasSameBytes(as: issuer.description) else {
            throw .providerInvalid("its document names another issuer")
        }
        func endpoint(_ name: String) throws(CountersignError) -> URL? {
            guard let value = document[name] else { return nil }
            guard let url = value.string.flatMap({ Self.endpoint($0, of: issuer) }) else {
                throw .providerInvalid("\(name) is not https and not at the issuer")
            }
            return url
        }
        guard let authorization = try endpoint("authorization_endpoint"), let token = try endpoint("token_endpoint"),
            let keys = try endpoint("jwks_uri")
        else { throw .providerInvalid("an endpoint is missing in its document") }
        func lists(_ name: String, _ value: JSONValue) -> Bool { document[name]?.array?.contains(value) == true }
        guard lists("response_types_supported", "code") else { throw .providerInvalid("it gives no codes") }
        // A list that is absent means that there is no PKCE. Spec: RFC 8414 §2.
        guard lists("code_challenge_methods_supported", "S256") else {
            throw .providerInvalid("it does not say that it knows PKCE by S256")
        }
        guard lists("token_endpoint_auth_methods_supported", "none") else {
            throw .providerInvalid("it has no place for apps, which keep no secret")
        }
        // Spec: RFC 9207 §3.
        guard document["authorization_response_iss_parameter_supported"] == .bool(true) else {
            throw .providerInvalid("it does not say that it names itself in its responses")
        }
        authorizationEndpoint = authorization
        tokenEndpoint = token
        keysURL = keys
        userinfoEndpoint = try endpoint("userinfo_endpoint")
        revocationEndpoint = try endpoint("revocation_endpoint")
        // Spec: RFC 8628 §4.
        deviceAuthorizationEndpoint = try endpoint("device_authorization_endpoint")
        algorithms = Set(
            Self.accepted.filter { lists("id_token_signing_alg_values_supported", .string($0.rawValue)) })
        bindsTokens = lists("dpop_signing_alg_values_supported", "ES256")
        guard !algorithms.isEmpty else { throw .providerInvalid("it signs by neither ES256 nor RS256") }
    }

    /// An endpoint, or a page for people: at the issuer itself, or anywhere by https.
    static func endpoint(_ text: String, of issuer: Issuer) -> URL? {
        guard text.utf8.count <= 2000, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#"),
            let parts = URLComponents(string: text), parts.user == nil, parts.password == nil,
            parts.host?.isEmpty == false, text.hasPrefix("\(issuer)/") || parts.scheme == "https"
        else { return nil }
        return parts.url
    }
}
