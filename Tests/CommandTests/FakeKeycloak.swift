import Encodings
import Foundation
import JOSE
import ServerTestSupport
import Synchronization

/// A realm of Keycloak's, as far as the documentation of its HTTP authentication channel describes it.
struct FakeKeycloak: Sendable {
    private static let path = "/realms/acme"
    private static let realmKey = Result { try RSAPrivateKey() }

    /// The realm's issuer.
    let issuer: String
    /// What was told to the callback endpoint.
    let callbacks: AsyncStream<LocalRequest>
    private let key: RSAPrivateKey

    /// Runs a body while the realm answers requests.
    ///
    /// - Parameters:
    ///   - statuses: the statuses for the first callbacks; all later ones are accepted.
    ///   - hidesKeys: whether the realm's keys cannot be read now.
    ///   - body: the body to run.
    static func with<Result: Sendable>(
        answering statuses: [Int] = [], hidingKeys hidesKeys: @escaping @Sendable () -> Bool = { false },
        _ body: @escaping @Sendable (FakeKeycloak) async throws -> Result
    ) async throws -> Result {
        let key = try realmKey.get()
        let (callbacks, arrive) = AsyncStream.makeStream(of: LocalRequest.self)
        let answers = Mutex(statuses)
        return try await LocalServer.with(taking: { request -> (Int, JSONValue) in
            switch (request.method, request.path) {
            case ("GET", "\(path)/protocol/openid-connect/certs"):
                return hidesKeys() ? (503, [:]) : (200, JWKSet([JWK(key.jwsPublicKey)]).json)
            case ("POST", "\(path)/protocol/openid-connect/ext/ciba/auth/callback"):
                arrive.yield(request)
                return (answers.withLock { $0.isEmpty ? 200 : $0.removeFirst() }, [:])
            default: return (404, [:])
            }
        }) { url in
            try await body(FakeKeycloak(issuer: "\(url)\(path)", callbacks: callbacks, key: key))
        }
    }

    /// The token of a request, as Keycloak makes it.
    ///
    /// - Parameters:
    ///   - seconds: how long Keycloak waits.
    ///   - other: another key than the realm's, under its name.
    ///   - change: changes the claims.
    func token(
        for seconds: Int64 = 120, signedBy other: RSAPrivateKey? = nil,
        _ change: @Sendable (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        var claims: JSONObject = [
            "exp": .integer(Int64(Date().timeIntervalSince1970) + seconds), "jti": .string(UUID().uuidString),
            "iss": .string(issuer), "aud": .string(issuer), "sub": "0d9a2f4e-5b53-4cf0-a0ab-7a3c1f0d2c11",
            "typ": "Bearer", "azp": "acme-tv",
        ]
        change(&claims)
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: "JWT", by: other ?? key, keyID: key.jwsPublicKey.thumbprint)
    }

    /// The next callback.
    func callback() async -> LocalRequest? {
        // Iterators of one stream share its buffer.
        var iterator = callbacks.makeAsyncIterator()
        return await iterator.next()
    }
}

extension LocalRequest {
    /// What Keycloak was told; nil unless it was told as its documentation says, under this token.
    func status(under token: String) -> String? {
        guard headers["authorization"] == "Bearer \(token)", headers["content-type"] == "application/json",
            let told = (try? JSONValue(parsing: body))?.object, told.members.count == 1
        else { return nil }
        return told["status"]?.string
    }
}
