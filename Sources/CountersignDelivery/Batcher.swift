import Synchronization

/// Has done together what is asked for at the same time: what comes while a batch is done makes the next one.
///
/// Nothing waits for a batch to fill: whoever finds nobody at it begins alone. Of a batch that fails each is done by
/// itself, so that nobody fails for another's fault.
final class Batcher<Item: Sendable, Outcome: Sendable>: Sendable {
    /// What comes of waiting.
    private enum Turn: Sendable {
        /// Another has done it.
        case done(Outcome)
        /// To do the next batch, one's own among it.
        case lead
        /// To do one's own by itself: the batch has failed.
        case alone
    }

    private struct State {
        var isBusy = false
        var waiting: [(item: Item, continuation: CheckedContinuation<Turn, Never>)] = []
    }

    private let body: @Sendable ([Item]) async throws -> [Outcome]
    private let state = Mutex(State())

    /// How many wait for the next batch.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A batcher over what does a batch and returns an outcome for each of it, in the same order.
    init(_ body: @escaping @Sendable ([Item]) async throws -> [Outcome]) {
        self.body = body
    }

    /// Does one, together with those that others ask for.
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
