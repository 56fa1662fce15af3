import CountersignWire
import Encodings
import Foundation
import OpenPGP

/// A source of the current time on the device.
public protocol DeviceClock: Sendable {
    /// Milliseconds since 1970.
    var millisecondsSince1970: Int64 { get }
}

/// The device's own clock.
public struct SystemClock: DeviceClock {
    /// The system's clock.
    public init() {}

    /// See ``DeviceClock/millisecondsSince1970``.
    public var millisecondsSince1970: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
}

/// The state of the connection to the server.
public enum ConnectionState: Hashable, Sendable {
    /// The last request was answered.
    case online
    /// Requests fail and are repeated; the values are the time of the first failure (milliseconds since 1970) and the
    /// code of the last error.
    case retrying(since: Int64, why: String)
    /// The device's clock is too far off to be corrected.
    case clockSkew
}

/// Sends signed requests to one server, and corrects the clock by the server's time.
///
/// Spec: docs/protocol/requests.md, *The signature*.
actor Connection {
    /// The largest difference, in seconds, by which the clock is corrected; a larger one is reported.
    ///
    /// Spec: docs/protocol/requests.md, *Checks of the server*.
    private static let largestCorrection: Int64 = 24 * 3600
    private static let timeout: TimeInterval = 30
    /// How often a request that has been sent is signed anew and repeated.
    private static let maximumRepeats = 3

    nonisolated let issuer: Issuer
    private let transport: any Transport
    private let clock: any DeviceClock
    private(set) var correction: Int64 = 0
    private(set) var state = ConnectionState.online {
        didSet { if state != oldValue { for listener in listeners.values { listener.yield(state) } } }
    }
    private var listeners: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
    private var nextListener = 0

    init(issuer: Issuer, transport: any Transport, clock: any DeviceClock) {
        self.issuer = issuer
        self.transport = transport
        self.clock = clock
    }

    /// The current time, corrected by the server's time.
    var now: Timestamp { Timestamp(milliseconds: clock.millisecondsSince1970 + correction) }

    /// A key that signs requests, and the server's name for the key.
    struct Signer: Sendable {
        let keyID: String
        let key: any SigningKey
    }

    /// Sends a request and returns the response if it succeeds.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: path and query.
    ///   - body: the body, JSON.
    ///   - signer: the key that signs; nil for requests that need no signature.
    ///   - token: an access token that entitles to the request, in the place of a signature; nil for none.
    ///   - waiting: how many seconds the server may hold the request.
    func send(
        _ method: String, _ path: String, body: JSONValue? = nil, signer: Signer? = nil,
        bearer token: AccessToken? = nil,
        waiting: Int64 = 0
    ) async throws(CountersignError) -> TransportResponse {
        var isCorrected = false
        var repeats = 0
        while true {
            do throws(CountersignError) {
                return try await attempt(method, path, body: body, signer: signer, bearer: token, waiting: waiting)
            } catch {
                guard case .server(let problem) = error else { throw error }
                switch problem.knownCode {
                case .clockSkew where !isCorrected:
                    try correct(by: problem)
                    isCorrected = true
                case .nonceReplayed where repeats < Self.maximumRepeats:
                    // The system's HTTP client repeats a request by itself when its connection breaks before the reply.
                    repeats += 1
                default: throw error
                }
            }
        }
    }

    private func attempt(
        _ method: String, _ path: String, body: JSONValue?, signer: Signer?, bearer token: AccessToken?, waiting: Int64
    ) async throws(CountersignError) -> TransportResponse {
        guard let url = URL(string: issuer.uri(path)) else { throw .notHandleable(reason: "the URL is malformed") }
        var request = TransportRequest(
            method: method, url: url, headers: ["Accept": "application/json"], body: body?.encoded,
            timeout: Self.timeout + TimeInterval(waiting))
        if request.body != nil { request.headers["Content-Type"] = "application/json" }
        if let signer { try await sign(&request, path: path, by: signer) }
        var response = try await received(request, showing: token)
        // The server has just told a nonce, or the system's HTTP client has sent the same proof twice.
        if let key = token?.key {
            let isWanted = await key.notes(response, from: url)
            if isWanted || response.proofError == "invalid_dpop_proof" {
                response = try await received(request, showing: token)
            }
        }
        guard (200..<300).contains(response.status) else {
            let failure = Self.error(in: response)
            note(failure)
            throw failure
        }
        state = .online
        return response
    }

    /// The reply to a request, which shows an access token if there is one.
    private func received(
        _ request: TransportRequest, showing token: AccessToken?
    ) async throws(CountersignError) -> TransportResponse {
        var request = request
        if let token {
            let fields = try await token.headerFields(for: request.method, request.url)
            request.headers.merge(fields) { _, field in field }
        }
        do {
            return try await transport.send(request)
        } catch {
            let failure = Task.isCancelled ? CountersignError.cancelled : .network("\(error)")
            note(failure)
            throw failure
        }
    }

    private func sign(
        _ request: inout TransportRequest, path: String, by signer: Signer
    ) async throws(CountersignError) {
        var generator = SystemRandomNumberGenerator()
        let parameters = SignatureParameters(
            created: now.seconds, nonce: Base64URL.encode((0..<18).map { _ in generator.next() }), keyID: signer.keyID)
        let digest = request.body.map { ContentDigest.field(for: $0) }
        let covered = SignedRequest(
            method: request.method, targetURI: issuer.uri(path), contentDigest: digest, authorization: nil)
        do {
            let (input, signature) = try await parameters.sign(covered, with: signer.key)
            request.headers["Signature-Input"] = input
            request.headers["Signature"] = signature
            request.headers["Content-Digest"] = digest
        } catch {
            throw .vault("\(error)")
        }
    }

    private static func error(in response: TransportResponse) -> CountersignError {
        guard let json = try? JSONValue(parsing: response.body), let problem = ProblemDetails(json) else {
            return .serverUnreachable(status: response.status)
        }
        return .server(problem)
    }

    /// Adopts the server's time, or reports that the clock is too far off.
    private func correct(by problem: ProblemDetails) throws(CountersignError) {
        guard let serverTime = problem["server_time"]?.string.flatMap({ Timestamp($0) }) else { throw .server(problem) }
        try adopt(serverTime)
    }

    /// Corrects the clock by a time that the server has just sent.
    func adopt(_ serverTime: Timestamp) throws(CountersignError) {
        let difference = serverTime.milliseconds - clock.millisecondsSince1970
        guard abs(difference) <= Self.largestCorrection * 1000 else {
            state = .clockSkew
            throw .clockSkew(by: .milliseconds(difference))
        }
        correction = difference
    }

    /// The current state, then every change.
    func states() -> AsyncStream<ConnectionState> {
        // Changes are few: a state is emitted once, until it becomes another.
        let (stream, continuation) = AsyncStream.makeStream(of: ConnectionState.self)
        nextListener += 1
        let number = nextListener
        listeners[number] = continuation
        continuation.onTermination = { _ in Task { await self.drop(number) } }
        continuation.yield(state)
        return stream
    }

    private func drop(_ number: Int) {
        listeners[number] = nil
    }

    private func note(_ failure: CountersignError) {
        if case .server = failure, !failure.isSentAgain {
            // A refusal is a response, too.
            state = .online
            return
        }
        guard failure.retryHelps, failure.code != "cancelled" else { return }
        if case .retrying(let since, _) = state {
            state = .retrying(since: since, why: failure.code)
        } else {
            state = .retrying(since: clock.millisecondsSince1970, why: failure.code)
        }
    }
}

extension TransportResponse {
    /// The body as JSON: the server sends nothing else here.
    func json() throws(CountersignError) -> JSONValue {
        guard let json = try? JSONValue(parsing: body) else { throw .serverUnreachable(status: status) }
        return json
    }

    /// The `Date` field, by which the clock can be corrected before there is a key to sign with.
    ///
    /// Only the format that senders must use is read; a date in an obsolete format counts as missing. Spec: RFC 9110
    /// §5.6.7.
    var date: Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // Sun, 06 Nov 1994 08:49:37 GMT
        let parts = headers["date"]?.split(separator: " ") ?? []
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
