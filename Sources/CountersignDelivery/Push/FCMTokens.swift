import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Encodings
import JOSE
import NIOHTTP1

/// The access tokens by which the server may send messages: one at a time, fetched when the one before is about to end.
///
/// Each node has its own; Google does not mind. Spec: RFC 7523 §2.1.
actor FCMTokens {
    /// Why there is no token.
    struct Refusal: Error {
        let words: String
        let retryAt: Timestamp?
    }

    /// How long an assertion is good for, in seconds: the most that Google takes.
    private static let lifetime: Int64 = 3600
    /// How long before its end a token is replaced, in seconds.
    private static let margin: Int64 = 300

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

    /// The token to use now; whoever asks while one is being fetched gets that one.
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

    /// Forgets a token that was refused.
    func forget(_ token: Secret<String>) {
        if let current, current.token.isSame(as: token) { self.current = nil }
    }

    private func fetch() async throws -> Secret<String> {
        let now = time.now
        let claims = JSONValue.members([
            "iss": .string(settings.account), "scope": .string(FCMSettings.scope),
            "aud": .string(settings.tokenURL), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + Self.lifetime),
        ])
        let assertion = try await JWS.sign(claims.encoded, type: "JWT", by: settings.key, keyID: settings.keyID)
        var request = HTTPClientRequest(url: settings.tokenURL)
        request.method = .POST
        request.headers = ["content-type": "application/x-www-form-urlencoded"]
        // Nothing in either value has to be escaped but the colons.
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
        current = (kept, now.adding(seconds: max(0, min(seconds, Self.lifetime) - Self.margin)))
        return kept
    }
}

extension UInt8 {
    fileprivate var isVisible: Bool { (0x21...0x7E).contains(self) }
}
