import CountersignWire
import JOSE
import Logging

/// The keys that a client publishes at a URI, as this node has fetched them last.
///
/// The URI is asked at most once a minute, whatever comes of it, and by one task at a time.
///
/// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`jwks_uri`), OpenID Connect Core 1.0 §10.1.1.
actor PublishedKeys {
    /// Whose keys they are, and where.
    ///
    /// So a client that gets another URI never has the keys of the former one.
    struct Source: Hashable, Sendable {
        let client: ClientID
        let uri: KeysURI
    }

    /// For how long keys are used before they are fetched again.
    static let freshness = Seconds.minutes(10)
    /// For how long keys are used while they cannot be fetched again.
    static let longest = Seconds.hours(1)
    /// How long the URI is left alone after it was asked.
    static let pause = Seconds.minutes(1)

    private let source: Source
    private var known: (keys: JWKSet, since: Timestamp)?
    private var askedAt: Timestamp?
    private var isFetching = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Nothing is known yet.
    init(_ source: Source) {
        self.source = source
    }

    /// The keys by which the client authenticates; nil if they are not known.
    ///
    /// - Parameters:
    ///   - isOneMissing: whether the keys that were known last lack the one that is needed.
    ///   - ports: the external dependencies.
    func keys(isOneMissing: Bool, ports: Ports) async -> JWKSet? {
        let now = ports.time.now
        if isOneMissing || !isWithin(Self.freshness, of: known?.since, at: now) {
            if isFetching {
                ports.clientKeys.willWait()
                await withCheckedContinuation { waiting.append($0) }
            } else if !isWithin(Self.pause, of: askedAt, at: now) {
                await fetch(at: now, ports)
            }
        }
        return isWithin(Self.longest, of: known?.since, at: ports.time.now) ? known?.keys : nil
    }

    /// Whether something was less than a length of time ago; false for a time to come, after a clock was set back.
    private func isWithin(_ length: Seconds, of start: Timestamp?, at now: Timestamp) -> Bool {
        start.map { $0 <= now && now < $0.adding(length) } ?? false
    }

    private func fetch(at now: Timestamp, _ ports: Ports) async {
        (isFetching, askedAt) = (true, now)
        ports.clientKeys.willWait()
        let fault = note(await ports.clientKeys.fetch(source.uri), at: now)
        if let fault {
            ports.logger.warning(
                "a client's keys cannot be used", metadata: ["client": "\(source.client)", "error": "\(fault)"])
        }
        isFetching = false
        let others = waiting
        waiting = []
        for other in others { other.resume() }
    }

    /// Keeps the keys of a document.
    ///
    /// - Returns: what is wrong with it; nil for nothing.
    private func note(_ fetched: FetchedKeys, at now: Timestamp) -> String? {
        switch fetched {
        case .failed(let reason): return reason
        case .document(let json):
            do throws(JOSEError) {
                let keys = try JWKSet(json)
                known = (keys, now)
                return keys.keys.isEmpty ? "no key can be used" : nil
            } catch .privateKey {
                // Anybody can read it and sign by it, and it may be one of those that were known.
                known = (JWKSet([JWK]()), now)
                return "a private key is among them, so none counts"
            } catch {
                return "they are no JWK Set: \(error)"
            }
        }
    }
}
