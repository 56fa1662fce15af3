/// An outcome that a repeat of its request gets again, whatever has changed since.
///
/// The kept form leaves out what the request contains, because a repeat contains the same, byte for byte.
protocol KeptOutcome: Equatable, Sendable {
    /// The parts of the request from which the outcome is completed.
    associatedtype Request

    /// The form that is kept for repeats; nil for a refusal, because the request may be tried again.
    var kept: KeptForm? { get }

    /// Reads a kept outcome of the same request; nil if the form is not valid.
    init?(kept: KeptForm, of request: Request)
}

/// The outcome of a request that may have been carried out before.
package enum Replayable<Outcome: Sendable>: Sendable {
    /// The request was carried out or refused now.
    case done(Outcome)
    /// The request was carried out before, with this outcome.
    case replayed(Outcome)
    /// The idempotency key was used for another request.
    case conflict
}

extension Replayable: Equatable where Outcome: Equatable {}

extension UnitOfWork {
    /// Carries out a request at most once per key, and keeps its outcome in the same transaction.
    ///
    /// - Parameters:
    ///   - key: the idempotency key; nil if the caller sent none.
    ///   - request: the parts of the request from which a kept outcome is completed.
    ///   - body: carries out the request.
    /// - Throws: ``StoreError``, and the errors of `body`.
    func once<Outcome: KeptOutcome>(
        _ key: IdempotencyKey?, _ request: Outcome.Request, _ body: () throws -> Outcome
    ) throws -> Replayable<Outcome> {
        guard let key else { return .done(try body()) }
        if let earlier: Replayable<Outcome> = try replayed(key, request) { return earlier }
        let outcome = try body()
        guard let kept = outcome.kept else {
            // The refusal may be due to a copy of the same request that was carried out since the look-up.
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
