import Synchronization

/// How many attempts to deliver there were, by what came of them.
public final class DeliveryCounts: Sendable {
    /// What came of an attempt.
    package enum Outcome: String, CaseIterable, Sendable {
        /// The receiver has it.
        case delivered
        /// It did not arrive and is tried again.
        case failed
        /// It did not arrive, and its time is over.
        case abandoned
    }

    private let state = Mutex<[Outcome: Int]>([:])

    /// None so far.
    public init() {}

    func note(_ outcome: Outcome) {
        state.withLock { $0[outcome, default: 0] += 1 }
    }

    /// Each outcome with its count.
    package var counts: [(Outcome, Int)] {
        state.withLock { state in Outcome.allCases.map { ($0, state[$0] ?? 0) } }
    }
}
