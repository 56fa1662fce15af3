package import CountersignCore
import Synchronization

/// Counts attempts to deliver, by kind and outcome.
package final class DeliveryCounts: Sendable {
    /// The outcome of an attempt.
    package enum Outcome: String, CaseIterable, Sendable {
        /// The receiver accepted the message.
        case delivered
        /// It failed, and will be tried again.
        case failed
        /// It failed, and will not be tried again.
        case abandoned
    }

    private struct Key: Hashable {
        let kind: OutboxMessage.Kind
        let outcome: Outcome
    }

    private let state = Mutex<[Key: Int]>([:])

    package init() {}

    func note(_ outcome: Outcome, of kind: OutboxMessage.Kind) {
        state.withLock { $0[Key(kind: kind, outcome: outcome), default: 0] += 1 }
    }

    /// The count of each kind and outcome.
    package var counts: [(kind: OutboxMessage.Kind, outcome: Outcome, count: Int)] {
        state.withLock { state in
            OutboxMessage.Kind.allCases.flatMap { kind in
                Outcome.allCases.map { (kind, $0, state[Key(kind: kind, outcome: $0)] ?? 0) }
            }
        }
    }
}
