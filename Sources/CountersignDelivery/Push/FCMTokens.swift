import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Encodings
import JOSE
import NIOHTTP1

/// Fetches the access tokens for FCM; one token is used until shortly before it expires.
///
/// Unlike with APNs, each node may have its own token.
///
/// Spec: RFC 7523 §2.1.
actor FCMTokens {
    /// Google did not return a token.
    struct Refusal: Error {
        let words: String
        let retryAt: Timestamp?
    }

    /// The lifetime of an assertion; the longest that Google accepts.
    private static let lifetime = Seconds.hours(1)
    /// How long before its expiry a token is replaced.
    private static let margin = Seconds.minutes(5)

    private let settings: FCMSettings
    private let client: HTTPClient
    private let time: any TimeSource
    private var current: (token: Secret<String>, until: Timestamp)?
    private var isFetching = false
    private var waiting: [CheckedContinuation<Secret<String>, any Error>] = []

    init(_ settings: FCMSettings, client: HTTPClient, time: any TimeSource) {
        self.settings = settings
        self.client = client
        self.time = time
    }

    /// The current token; concurrent callers share one fetch.
    func token() async throws -> Secret<String> {
        if let current, time.now < current.until { return current.token }
        if isFetching { return try await withCheckedThrowingContinuation { waiting.append($0) } }
        isFetching = true
        let result: Result<Secret<String>, any Error>
        do { result = .success(try await fetch()) } catch { result = .failure(error) }
        isFetching = false
        let others = waiting
        waiting = []
        for other in others { other.resume(with: result) }
        return try result.get()
    }

    /// Drops a token that FCM refused.
    func forget(_ token: Secret<String>) {
        if let current, current.token.isSame(as: token) { self.current = nil }
    }

    private func fetch() async throws -> Secret<String> {
        let now = time.now
        let claims = JSONValue.members([
            "iss": .string(settings.account), "scope": .string(FCMSettings.scope),
            "aud": .string(settings.tokenURL), "iat": .integer(now.seconds),
            "exp": .integer(now.adding(Self.lifetime).seconds),
        ])
        let assertion = try await JWS.sign(claims.encoded, type: "JWT", by: settings.key, keyID: settings.keyID)
        var request = HTTPClientRequest(url: settings.tokenURL)
        request.method = .POST
        request.headers = ["content-type": "application/x-www-form-urlencoded"]
        // The colons are the only characters in the two values that need escaping.
        let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        request.body = .bytes(Array("grant_type=\(grant)&assertion=\(assertion)".utf8))
        let reply = try await ServiceReply(to: request, by: client)
        guard reply.status == 200, let token = reply.json?["access_token"]?.string, token.utf8.allSatisfy(\.isVisible),
            let seconds = reply.json?["expires_in"]?.integer
        else {
            let reason = ServiceReply.printable(reply.json?["error"]?.string)
            throw Refusal(
                words: "Google gave no access token: \(reply.status) \(reason)", retryAt: reply.retryTime(at: now))
        }
        let kept = Secret(token)
        current = (kept, now.adding(max(0, min(Seconds(seconds), Self.lifetime) - Self.margin)))
        return kept
    }
}

extension UInt8 {
    fileprivate var isVisible: Bool { (0x21...0x7E).contains(self) }
}
