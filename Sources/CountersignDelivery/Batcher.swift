import Synchronization

/// Combines concurrent items into batches: items that arrive while a batch is processed form the next batch.
///
/// No item waits for a batch to fill; when nothing is in progress, an item starts at once and alone. When a batch
/// fails, each of its items is processed again by itself, so that no item fails because of another.
final class Batcher<Item: Sendable, Outcome: Sendable>: Sendable {
    /// How a waiting item continues.
    private enum Turn: Sendable {
        /// Another caller has processed it.
        case done(Outcome)
        /// Its caller processes the next batch, which includes this item.
        case lead
        /// The batch failed; its caller processes this item by itself.
        case alone
    }

    private struct State {
        var isBusy = false
        var waiting: [(item: Item, continuation: CheckedContinuation<Turn, Never>)] = []
    }

    private let body: @Sendable ([Item]) async throws -> [Outcome]
    private let state = Mutex(State())

    /// The number of items that wait for the next batch.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Creates a batcher; `body` processes a batch and returns one outcome for each item, in the same order.
    init(_ body: @escaping @Sendable ([Item]) async throws -> [Outcome]) {
        self.body = body
    }

    /// Processes an item, together with concurrent ones.
    func perform(_ item: Item) async throws -> Outcome {
        let turn: Turn = await withCheckedContinuation { continuation in
            let leads = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.waiting.append((item, continuation))
                return false
            }
            if leads { continuation.resume(returning: .lead) }
        }
        switch turn {
        case .done(let outcome): return outcome
        case .lead: return try await lead(item)
        case .alone: return try await body([item])[0]
        }
    }

    private func lead(_ item: Item) async throws -> Outcome {
        let others = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        defer { handOver() }
        do {
            let outcomes = try await body([item] + others.map(\.item))
            for (other, outcome) in zip(others, outcomes.dropFirst()) {
                other.continuation.resume(returning: .done(outcome))
            }
            return outcomes[0]
        } catch {
            for other in others { other.continuation.resume(returning: .alone) }
            guard !others.isEmpty else { throw error }
            return try await body([item])[0]
        }
    }

    private func handOver() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil as CheckedContinuation<Turn, Never>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: .lead)
    }
}
