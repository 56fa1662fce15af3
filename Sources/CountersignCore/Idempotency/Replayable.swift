/// An outcome that a repeat of its request gets again, whatever has changed since.
///
/// What the request itself says is not kept: a repeat says it again, byte for byte.
protocol KeptOutcome: Equatable, Sendable {
    /// What was asked for.
    associatedtype Request

    /// What is kept for repeats; nil for a refusal, since the request may be tried again.
    var kept: KeptForm? { get }

    /// The outcome that was kept, of the same request; nil where it cannot be read.
    init?(kept: KeptForm, of request: Request)
}

/// The outcome of an operation that may have been done before.
package enum Replayable<Outcome: Sendable>: Sendable {
    /// Done now.
    case done(Outcome)
    /// Done before, with this outcome.
    case replayed(Outcome)
    /// The key was used for another request.
    case conflict
}

extension Replayable: Equatable where Outcome: Equatable {}

extension UnitOfWork {
    /// Does something once per key, inside the transaction that does it.
    ///
    /// - Parameters:
    ///   - key: the key, or nil when the caller sent none.
    ///   - request: what is asked for.
    ///   - body: what to do.
    func once<Outcome: KeptOutcome>(
        _ key: IdempotencyKey?, _ request: Outcome.Request, _ body: () throws -> Outcome
    ) throws -> Replayable<Outcome> {
        guard let key else { return .done(try body()) }
        if let earlier: Replayable<Outcome> = try replayed(key, request) { return earlier }
        let outcome = try body()
        guard let kept = outcome.kept else {
            // It may be refused because the same request was done since it was looked for.
            return try replayed(key, request) ?? .done(outcome)
        }
        try replies.insert(kept, for: key, at: now)
        return .done(outcome)
    }

    private func replayed<Outcome: KeptOutcome>(
        _ key: IdempotencyKey, _ request: Outcome.Request
    ) throws -> Replayable<Outcome>? {
        guard let earlier = try replies.find(key) else { return nil }
        guard earlier.requestDigest == key.requestDigest else { return .conflict }
        guard let outcome = Outcome(kept: earlier.form, of: request) else { throw StoreError.corruptRow("reply") }
        return .replayed(outcome)
    }
}
