package import CountersignCore
import Synchronization

/// How many attempts to deliver there were, by the kind of message and what came of them.
package final class DeliveryCounts: Sendable {
    /// What came of an attempt.
    package enum Outcome: String, CaseIterable, Sendable {
        /// The receiver has it.
        case delivered
        /// It did not arrive and is tried again.
        case failed
        /// It did not arrive, and its time is over.
        case abandoned
    }

    private struct Key: Hashable {
        let kind: OutboxMessage.Kind
        let outcome: Outcome
    }

    private let state = Mutex<[Key: Int]>([:])

    /// None so far.
    package init() {}

    func note(_ outcome: Outcome, of kind: OutboxMessage.Kind) {
        state.withLock { $0[Key(kind: kind, outcome: outcome), default: 0] += 1 }
    }

    /// Each kind and outcome with its count.
    package var counts: [(kind: OutboxMessage.Kind, outcome: Outcome, count: Int)] {
        state.withLock { state in
            OutboxMessage.Kind.allCases.flatMap { kind in
                Outcome.allCases.map { (kind, $0, state[Key(kind: kind, outcome: $0)] ?? 0) }
            }
        }
    }
}
