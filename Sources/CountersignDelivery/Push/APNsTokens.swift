import CountersignCore
import CountersignWire
import Encodings
import JOSE
import Synchronization

/// The token with which the server authenticates to APNs.
///
/// APNs requires that all nodes use one token for 20 to 60 minutes; see ``ProviderTokens``.
///
/// Spec: APNs provider API, token-based authentication.
final class APNsTokens: Sendable {
    /// How long a token is used.
    static let lifetime = Seconds.minutes(50)
    /// The minimum age at which a token is replaced, even when APNs calls it expired.
    static let shortest = Seconds.minutes(20)

    private let settings: APNsSettings
    private let tokens: any ProviderTokens
    private let time: any TimeSource
    private let current = Mutex<ProviderToken?>(nil)

    init(_ settings: APNsSettings, tokens: any ProviderTokens, time: any TimeSource) {
        self.settings = settings
        self.tokens = tokens
        self.time = time
    }

    func token() async throws -> ProviderToken {
        if let token = current.withLock({ $0 }), isFresh(token, for: Self.lifetime) { return token }
        let stored = try await tokens.providerToken(name)
        if let stored, isFresh(stored, for: Self.lifetime) { return keep(stored) }
        return try await renew(stored)
    }

    /// A replacement for a token that APNs called expired; nil when the token is too young to be replaced.
    func token(insteadOf expired: ProviderToken) async throws -> ProviderToken? {
        let stored = try await tokens.providerToken(name)
        if let stored, stored.issuedAt != expired.issuedAt, isFresh(stored, for: Self.lifetime) { return keep(stored) }
        guard !isFresh(expired, for: Self.shortest) else { return nil }
        return try await renew(stored)
    }

    private func renew(_ stored: ProviderToken?) async throws -> ProviderToken {
        let now = time.now.wholeSeconds
        let claims = JSONValue.members(["iss": .string(settings.team), "iat": .integer(now.seconds)])
        let text = try await JWS.sign(
            claims.encoded, type: "JWT", by: settings.key.reveal(), keyID: settings.keyID)
        let made = ProviderToken(text: Secret(text), issuedAt: now)
        return keep(try await tokens.replace(name, issuedAt: stored?.issuedAt, by: made))
    }

    private func keep(_ token: ProviderToken) -> ProviderToken {
        current.withLock { $0 = token }
        return token
    }

    /// A token from the future was made before a clock was set back; it is treated as expired.
    private func isFresh(_ token: ProviderToken, for length: Seconds) -> Bool {
        let age = time.now.seconds - token.issuedAt.seconds
        return (0..<length.value).contains(age)
    }

    private var name: String { "apns \(settings.team) \(settings.keyID)" }
}
