import CountersignWire

/// Names one request of one caller, so that a repeat gets the first reply.
///
/// Spec: design 4.
public struct IdempotencyKey: Sendable {
    /// How long a reply is kept, in seconds.
    public static let lifetime: Int64 = 24 * 3600

    /// The caller and the route.
    public let scope: String
    /// What the caller sent.
    public let key: String
    /// What tells the request from others: a keyed hash of its body, or a hash where it holds nothing to guess.
    public let requestDigest: [UInt8]

    /// Names a request by what the caller sent with it, and by its body, which is kept as a keyed hash.
    ///
    /// Accepts a key of 1 to 255 visible ASCII characters.
    public init?(scope: String, key: String, body: [UInt8], _ hasher: KeyedHasher) {
        self.init(scope: scope, key: key, requestDigest: hasher.hash(ofRequest: body))
    }

    /// Accepts a key of 1 to 255 visible ASCII characters.
    public init?(scope: String, key: String, requestDigest: [UInt8]) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.scope = scope
        self.key = key
        self.requestDigest = requestDigest
    }
}

/// A reply that was sent once and may have to be sent again.
public struct RecordedReply: Sendable {
    /// The status.
    public let status: Int
    /// The body, which may hold secrets: kept sealed.
    public let body: [UInt8]
    /// What told the request that it answered from others; nil until it is recorded.
    public let requestDigest: [UInt8]?

    /// A reply of these parts.
    public init(status: Int, body: [UInt8], requestDigest: [UInt8]? = nil) {
        self.status = status
        self.body = body
        self.requestDigest = requestDigest
    }
}

/// The outcome of an operation that may have been done before.
public enum Replayable<Outcome: Sendable>: Sendable {
    /// Done now.
    case done(Outcome)
    /// Done before; this was the reply.
    case replayed(RecordedReply)
    /// The key was used for another request.
    case conflict
}

extension UnitOfWork {
    /// Does something once per key, inside the transaction that does it.
    ///
    /// - Parameters:
    ///   - key: the key, or nil when the caller sent none.
    ///   - body: what to do; the reply it gives is kept, and none for a refusal, which may be tried again.
    func once<Outcome>(
        _ key: IdempotencyKey?, _ body: () throws -> (Outcome, RecordedReply?)
    ) throws -> Replayable<Outcome> {
        guard let key else { return .done(try body().0) }
        if let earlier = try replayed(key, as: Outcome.self) { return earlier }
        let (outcome, reply) = try body()
        guard let reply else {
            // It may be refused because the same request was done since it was looked for.
            return try replayed(key, as: Outcome.self) ?? .done(outcome)
        }
        try replies.insert(reply, for: key, at: now)
        return .done(outcome)
    }

    private func replayed<Outcome>(_ key: IdempotencyKey, as _: Outcome.Type) throws -> Replayable<Outcome>? {
        try replies.find(key).map { $0.requestDigest == key.requestDigest ? .replayed($0) : .conflict }
    }
}
