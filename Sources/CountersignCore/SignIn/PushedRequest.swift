package import CountersignWire
import Encodings

/// An authorization request that a client has pushed, as a browser brings it.
///
/// It is no row: the `request_uri` is the request itself, sealed for its client. Any node opens it, and a client that
/// pushes and never comes back leaves nothing.
///
/// Spec: RFC 9126 §2.2; docs/decisions/0088-pushed-requests.md.
package struct PushedRequest: Equatable, Sendable {
    /// What every such `request_uri` begins with.
    ///
    /// Spec: RFC 9126 §2.2.
    package static let prefix = "urn:ietf:params:oauth:request_uri:"
    /// How long a browser can begin with it; less than the ten minutes of FAPI 2.0 Security Profile §5.3.2.2.
    package static let lifetime = Seconds.minutes(5)
    /// How long what was begun with it can give the client its result.
    private static let completion = Seconds.hours(1)
    /// How long a `request_uri` may be: with the rest of a link it must pass the proxies that take 8 KiB.
    private static let longest = 7168

    /// The parameters of the request, form-encoded.
    package let parameters: String
    /// Its one use.
    package let use: Use
    /// Whether the client was strict when it pushed it.
    package let isStrict: Bool

    /// The one use of a pushed request: one result for the client, whoever opens it how often.
    ///
    /// Spec: RFC 9126 §7.3.
    package struct Use: Hashable, Sendable {
        /// What no other pushed request has.
        let id: String
        /// Until when it can give the client a result.
        let until: Timestamp
    }

    /// What a `request_uri` is.
    package enum Opened: Equatable, Sendable {
        /// A request that can begin.
        case good(PushedRequest)
        /// A request whose time is over, or which has given its client a result.
        case over(PushedRequest)
        /// It is none of this client's.
        case unknown
    }

    /// Counts a request that a client pushes, whether it is good or not.
    ///
    /// A client that authenticates is counted by itself. Anybody can name one that does not, and would keep its people
    /// out: there the network counts.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - network: the caller's network; nil where it is not known.
    ///   - ports: the external dependencies.
    /// - Returns: after how long to try again if there were too many; nil otherwise.
    /// - Throws: ``StoreError``.
    package static func count(by client: ClientID, from network: [UInt8]?, ports: Ports) async throws -> Seconds? {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .client(client)) { work -> Seconds? in
            let isConfidential = try work.relyingParties.find(client)?.profile.isConfidential ?? false
            let limit: AttemptLimit? =
                isConfidential ? .pushedRequests(client) : network.map { AttemptLimit.pushedRequestsFrom($0) }
            guard let limit else { return nil }
            let count = try work.count(limit)
            return count.isExceeded ? count.retryAfter(at: now) : nil
        }
    }

    /// Spends the proof with which a client pushes a request, so that no node takes it again.
    ///
    /// A push is no row, so that this is the one thing that it writes.
    ///
    /// Spec: RFC 9449 §10.1, §11.1.
    ///
    /// - Parameters:
    ///   - key: the key that the client has proved to have.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Returns: false if the proof came before.
    /// - Throws: ``StoreError``.
    package static func spend(_ key: ProvedKey, of client: ClientID, ports: Ports) async throws -> Bool {
        try await ports.commit(at: ports.time.now, as: .client(client)) { try $0.spend(key) }
    }

    /// Seals a request that was checked.
    ///
    /// - Parameters:
    ///   - parameters: its parameters, form-encoded.
    ///   - client: the client, which alone can use it.
    ///   - isStrict: whether the client is strict.
    ///   - ports: the external dependencies.
    /// - Returns: the `request_uri`; nil if it would be too long for a link.
    package static func seal(
        _ parameters: String, of client: ClientID, isStrict: Bool = false, ports: Ports
    ) throws -> String? {
        let now = ports.time.now
        let json = JSONValue.members([
            "id": .string(Base64URL.encode(ports.random.bytes(16))), "at": .string("\(now)"),
            "request": .string(parameters), "strict": isStrict ? true : nil,
        ])
        let uri = prefix + Base64URL.encode(try ports.hasher.sealed(json.encoded, for: purpose(of: client)))
        return uri.utf8.count <= longest ? uri : nil
    }

    /// Opens a `request_uri`; this changes nothing, so that a page can be loaded again.
    ///
    /// - Throws: ``StoreError``.
    package static func open(_ uri: String, of client: ClientID, ports: Ports) async throws -> Opened {
        guard uri.hasPrefix(prefix), let sealed = Base64URL.decode(uri.dropFirst(prefix.count)),
            let bytes = ports.hasher.opened(sealed, for: purpose(of: client)),
            let json = try? JSONValue(parsing: bytes), let id = json["id"]?.string,
            let at = json["at"]?.string.flatMap({ Timestamp($0) }), let parameters = json["request"]?.string
        else { return .unknown }
        let end = at.adding(lifetime)
        let request = PushedRequest(
            parameters: parameters, use: Use(id: id, until: end.adding(completion)),
            isStrict: json["strict"]?.bool ?? false)
        // check: PushedRequestTests.expired
        guard ports.time.now < end else { return .over(request) }
        let isSpent = try await ports.store.read { reader in
            try reader.nonces.isSpent(nonce: id, of: Use.scope)
        }
        return isSpent ? .over(request) : .good(request)
    }

    /// Ends a pushed request whose client gets an error after somebody has acted.
    ///
    /// Nothing is done where it was not pushed, or has ended before.
    ///
    /// - Throws: ``StoreError``.
    package static func end(_ wanted: Wanted, ports: Ports) async throws {
        guard wanted.pushed != nil else { return }
        _ = try await ports.commit(at: ports.time.now, as: .system) { try $0.spend(wanted.pushed) }
    }

    private static func purpose(of client: ClientID) -> String { "pushed request \(client)" }
}

extension PushedRequest.Use {
    /// The scope of its nonce.
    fileprivate static let scope = "pushed"

    /// The form in which it travels with a page and in which a row holds it.
    var json: JSONValue { ["id": .string(id), "until": .string("\(until)")] }

    /// Reads the form; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let until = json["until"]?.string.flatMap({ Timestamp($0) }) else {
            return nil
        }
        self.init(id: id, until: until)
    }
}

extension UnitOfWork {
    /// Lets a pushed request give its client a result.
    ///
    /// - Parameter use: its one use; nil where the request was not pushed.
    /// - Returns: false if it has given one before, or is too old to.
    func spend(_ use: PushedRequest.Use?) throws -> Bool {
        guard let use else { return true }
        // check: PushedRequestUseTests.tooLate
        guard now < use.until else { return false }
        return try nonces.spend(
            nonce: use.id, of: PushedRequest.Use.scope, until: use.until.adding(ReplayGuard.margin))
    }
}
