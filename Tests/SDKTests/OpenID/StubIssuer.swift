import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import Synchronization

/// An issuer that says whatever a test wants it to, and a browser that comes back with whatever a test wants.
final class StubIssuer: Transport, BrowserSession {
    static let url = "https://login.example.com"
    static let client = "cli_app"
    static let redirectURI = "http://127.0.0.1:50123/callback"

    /// What is sent in the place of what an honest issuer sends.
    struct Lies: Sendable {
        /// Changes the document.
        var document: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Changes the parameters with which the browser comes back.
        var response: @Sendable (inout [(String, String)]) -> Void = { _ in }
        /// Changes the whole address at which it comes back.
        var address: @Sendable (String) -> String = { $0 }
        /// Changes the claims of the ID token.
        var claims: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Changes the signed ID token.
        var token: @Sendable (String) -> String = { $0 }
        /// The header `typ` of the ID token.
        var type: String? = "JWT"
        /// Changes the reply of the token endpoint.
        var reply: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Does something else with a request than an honest issuer.
        var instead: @Sendable (TransportRequest) async throws -> TransportResponse? = { _ in nil }
        /// The published keys; nil for the one that signs.
        var keys: JSONValue?
        /// What userinfo tells.
        var userInfo: JSONValue?
        /// Changes the reply of the device authorization endpoint.
        var authorization: @Sendable (inout JSONObject) -> Void = { _ in }
    }

    private struct State {
        var lies = Lies()
        var request: [String: String] = [:]
        var sent: [TransportRequest] = []
        var generation = 0
        var isRevoked = false
        var polls: [TransportResponse] = []
    }

    let key = P256.Signing.PrivateKey()
    private let state = Mutex(State())

    /// Lies from now on.
    func lie(_ change: @Sendable (inout Lies) -> Void) { state.withLock { change(&$0.lies) } }

    /// Answers the next polls of a device by these, and later ones by tokens.
    func answerPolls(_ replies: [TransportResponse]) { state.withLock { $0.polls = replies } }

    /// How often something was asked at a path.
    func count(_ path: String) -> Int { requests(path).count }

    /// The forms that were sent to a path.
    func forms(_ path: String) -> [[String: String]] {
        requests(path).map { Self.fields(String(decoding: $0.body ?? [], as: UTF8.self)) }
    }

    /// What stood in a header field of the requests to a path; nil where it did not stand.
    func fields(_ name: String, _ path: String) -> [String?] { requests(path).map { $0.headers[name] } }
    /// The header fields that were sent to a path.
    func headers(_ path: String) -> [[String: String]] { requests(path).map(\.headers) }

    /// The parameters of the last authorization request.
    var asked: [String: String] { state.withLock { $0.request } }

    private func requests(_ path: String) -> [TransportRequest] {
        state.withLock { $0.sent }.filter { $0.url.path == path }
    }

    static func fields(_ query: String) -> [String: String] {
        let items = URLComponents(string: "x:?\(query)")?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        let request = Self.fields(url.query() ?? "")
        let lies = state.withLock { state in
            state.request = request
            return state.lies
        }
        var fields = [("code", "the-code"), ("state", request["state"] ?? ""), ("iss", Self.url)]
        lies.response(&fields)
        var answer = URLComponents()
        answer.queryItems = fields.map { URLQueryItem(name: $0.0, value: $0.1) }
        let text = lies.address("\(redirectURI.absoluteString)?\(answer.percentEncodedQuery ?? "")")
        guard let url = URL(string: text) else { throw CancellationError() }
        return url
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let lies = state.withLock { state in
            state.sent.append(request)
            return state.lies
        }
        if let other = try await lies.instead(request) { return other }
        switch request.url.path {
        case "/.well-known/openid-configuration":
            var document = Self.document
            lies.document(&document)
            return Self.reply(.object(document))
        case "/keys": return Self.reply(lies.keys ?? JWKSet([JWK(key.publicKey)]).json)
        case "/device_authorization":
            var reply = Self.authorization
            lies.authorization(&reply)
            return Self.reply(.object(reply))
        case "/token":
            let poll: TransportResponse? = state.withLock { $0.polls.isEmpty ? nil : $0.polls.removeFirst() }
            if let poll { return poll }
            return try await tokens(for: request, lies)
        case "/userinfo": return Self.reply(lies.userInfo ?? ["sub": "usr_1", "email": "a@example.com"])
        case "/revoke":
            state.withLock { $0.isRevoked = true }
            return TransportResponse(status: 200, headers: [:], body: [])
        default: return TransportResponse(status: 404, headers: [:], body: [])
        }
    }

    private func tokens(for request: TransportRequest, _ lies: Lies) async throws -> TransportResponse {
        let form = Self.fields(String(decoding: request.body ?? [], as: UTF8.self))
        let isRefresh = form["grant_type"] == "refresh_token"
        let generation: Int? = state.withLock { state in
            if isRefresh {
                // The last token again, as after a lost reply, or the current one.
                let isGood = ["r\(state.generation)", "r\(state.generation - 1)"].contains(form["refresh_token"])
                guard isGood, !state.isRevoked else { return nil }
                if form["refresh_token"] == "r\(state.generation)" { state.generation += 1 }
            }
            return state.generation
        }
        guard let generation else { return Self.reply(["error": "invalid_grant"], status: 400) }
        let access = "access-\(generation)"
        var claims = self.claims(with: access, nonce: isRefresh ? nil : asked["nonce"])
        lies.claims(&claims)
        let token = try await JWS.sign(
            JSONValue.object(claims).encoded, type: lies.type, by: key, keyID: JWK(key.publicKey).keyID)
        var reply = JSONObject([
            "access_token": .string(access), "token_type": "Bearer", "expires_in": 600,
            "scope": "openid offline_access", "refresh_token": .string("r\(generation)"),
            "id_token": .string(lies.token(token)),
        ])
        lies.reply(&reply)
        return Self.reply(.object(reply))
    }

    private func claims(with access: String, nonce: String?) -> JSONObject {
        let now = StubServer.now.seconds
        let half = Array(SHA256.hash(data: Array(access.utf8)).prefix(16))
        return JSONObject([
            "iss": .string(Self.url), "sub": "usr_1", "aud": .string(Self.client), "iat": .integer(now),
            "exp": .integer(now + 86_400), "auth_time": .integer(1_700_000_000), "acr": "urn:countersign:acr:device",
            "amr": ["swk", "user"], "nonce": nonce.map(JSONValue.string), "at_hash": .string(Base64URL.encode(half)),
        ])
    }

    static func reply(_ json: JSONValue, status: Int = 200) -> TransportResponse {
        TransportResponse(status: status, headers: [:], body: json.encoded)
    }

    static var document: JSONObject {
        JSONObject([
            "issuer": .string(url), "authorization_endpoint": .string("\(url)/authorize"),
            "token_endpoint": .string("\(url)/token"), "jwks_uri": .string("\(url)/keys"),
            "userinfo_endpoint": .string("\(url)/userinfo"), "revocation_endpoint": .string("\(url)/revoke"),
            "device_authorization_endpoint": .string("\(url)/device_authorization"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
            "authorization_response_iss_parameter_supported": true,
        ])
    }

    static var authorization: JSONObject {
        JSONObject([
            "device_code": "the-device-code", "user_code": "WDJB-MJHT", "verification_uri": .string("\(url)/device"),
            "verification_uri_complete": .string("\(url)/device?user_code=WDJB-MJHT"), "expires_in": 60, "interval": 1,
            "number": "042917",
        ])
    }

    /// An app that is registered here.
    func app(
        _ vault: any Vault = MemoryVault(), clock: any DeviceClock = SystemClock(), timeout: Duration = .seconds(15),
        apis: [OpenIDRegistration.API] = []
    ) throws -> OpenIDClient {
        guard let issuer = URL(string: Self.url), let place = URL(string: Self.redirectURI) else {
            throw CancellationError()
        }
        return try OpenIDClient(
            OpenIDRegistration(issuer: issuer, clientID: Self.client, redirectURI: place, apis: apis), vault: vault,
            transport: self, clock: clock, timeout: timeout)
    }
}

/// A clock that a test moves.
final class MovedClock: DeviceClock {
    private let ahead = Mutex<Int64>(0)

    var millisecondsSince1970: Int64 { SystemClock().millisecondsSince1970 + ahead.withLock { $0 } * 1000 }

    func advance(seconds: Int64) { ahead.withLock { $0 += seconds } }
}
