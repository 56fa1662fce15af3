import AsyncHTTPClient
import Encodings
import Foundation
import JOSE
import Logging
import NIOHTTP1
import NIOPosix

/// The token that comes with a request of Keycloak's, and by which Keycloak is told the answer.
///
/// Whoever holds it can say yes in the person's place, so it is shown to nobody but Keycloak.
struct ChannelToken: Sendable {
    fileprivate let compact: Secret<String>
    /// Names the request.
    let id: String
    /// Keycloak's client, for which the person is asked.
    let client: String
    /// When Keycloak gives up.
    let end: ContinuousClock.Instant
}

/// A realm of Keycloak's: whether a request is from there, and where answers go.
actor Keycloak {
    /// What Keycloak can be told.
    enum Status: String {
        /// The person has approved.
        case succeed = "SUCCEED"
        /// Nobody has approved.
        case unauthorized = "UNAUTHORIZED"
        /// The person has declined.
        case cancelled = "CANCELLED"
    }

    /// A request that does not come from this realm, or comes too late.
    struct ForeignToken: Error {}
    /// The realm's keys cannot be read.
    struct Unreachable: Error {}

    /// The pauses before each attempt to tell an answer.
    private static let pauses: [Duration] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)]
    /// How often keys are fetched at most; without it, tokens with made-up keys would have them fetched all the time.
    private static let pauseBetweenFetches = Duration.seconds(10)
    /// How long keys are used without asking whether they are still the realm's.
    private static let longestUse = Duration.seconds(300)
    /// The longest time that Keycloak waits, however long it says.
    private static let longestLife: TimeInterval = 86_400

    /// The realm's URL, which is its issuer.
    private let realm: String
    private let client: HTTPClient
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The keys that were read last, and when; an attempt that fails makes them no younger.
    private var known: (keys: JWKSet, at: ContinuousClock.Instant)?
    private var fetch: (task: Task<JWKSet, any Error>, at: ContinuousClock.Instant)?

    /// A realm.
    ///
    /// - Parameters:
    ///   - realm: its URL.
    ///   - client: the client by which it is called.
    ///   - logger: told what fails.
    ///   - now: the clock by which keys grow old.
    init(
        realm: String, client: HTTPClient, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.realm = realm
        self.client = client
        self.logger = logger
        self.now = now
    }

    /// The token of a request, after verification.
    ///
    /// Keycloak makes such a token for itself: issuer and audience are the realm, and nobody else is in the audience.
    ///
    /// - Throws: ``ForeignToken``, or ``Unreachable`` if the keys that verify it cannot be read.
    func token(_ compact: String) async throws -> ChannelToken {
        let jws = try await verified(compact)
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object, claims["iss"] == .string(realm),
            let audience = claims["aud"], audience == .string(realm) || audience == [.string(realm)],
            claims["typ"] == .string("Bearer"), let id = claims["jti"]?.string, let client = claims["azp"]?.string,
            let expiry = claims["exp"]?.integer
        else { throw ForeignToken() }
        let left = Double(expiry) - Date().timeIntervalSince1970
        guard left > 0 else { throw ForeignToken() }
        let end = ContinuousClock.now + .seconds(min(left, Self.longestLife))
        return ChannelToken(compact: Secret(compact), id: id, client: client, end: end)
    }

    private func verified(_ compact: String) async throws -> VerifiedJWS {
        let algorithms = Set(JWSAlgorithm.allCases)
        if let known, now() < known.at + Self.longestUse {
            do throws(JOSEError) {
                return try JWS.verify(compact, algorithms: algorithms, type: .unchecked, keys: known.keys)
            } catch {
                // The realm may have a new key.
                guard error == .unknownKeyID else { throw ForeignToken() }
            }
        }
        let keys = try await newKeys()
        guard let jws = try? JWS.verify(compact, algorithms: algorithms, type: .unchecked, keys: keys) else {
            throw ForeignToken()
        }
        return jws
    }

    /// The realm's keys, fetched now or a moment ago.
    private func newKeys() async throws -> JWKSet {
        let latest: (task: Task<JWKSet, any Error>, at: ContinuousClock.Instant)
        if let fetch, now() < fetch.at + Self.pauseBetweenFetches {
            latest = fetch
        } else {
            let task: Task<JWKSet, any Error> = Task { [client, realm] in
                let request = HTTPClientRequest(url: "\(realm)/protocol/openid-connect/certs")
                return try JWKSet(try await client.reply(to: request, within: 5).json)
            }
            latest = (task, now())
            fetch = latest
        }
        do {
            let keys = try await latest.task.value
            known = (keys, latest.at)
            return keys
        } catch {
            logger.error("the realm's keys cannot be read", metadata: ["error": "\(error)"])
            throw Unreachable()
        }
    }

    /// Tells Keycloak the answer.
    ///
    /// It is told again only where Keycloak certainly has not heard it: a second answer ends a request that the first
    /// has approved, and whose tokens its client has not fetched yet.
    func report(_ status: Status, of token: ChannelToken) async {
        var request = HTTPClientRequest(url: "\(realm)/protocol/openid-connect/ext/ciba/auth/callback")
        request.method = .POST
        request.headers.add(name: "authorization", value: "Bearer \(token.compact.reveal())")
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(JSONValue.members(["status": .string(status.rawValue)]).encoded)
        var last = ""
        for pause in Self.pauses {
            if pause > .zero { try? await Task.sleep(for: pause) }
            guard ContinuousClock.now < token.end else { break }
            do {
                let reply = try await client.reply(to: request, within: 10)
                if reply.isSuccess {
                    logger.info("Keycloak is told", metadata: ["status": "\(status.rawValue)"])
                    return
                }
                last = "\(reply.status)"
                guard [429, 502, 503].contains(reply.status) else { break }
            } catch {
                last = "\(error)"
                guard error is NIOConnectionError || (error as? HTTPClientError) == .connectTimeout else { break }
            }
        }
        logger.error("Keycloak is not told", metadata: ["status": "\(status.rawValue)", "error": "\(last)"])
    }
}
