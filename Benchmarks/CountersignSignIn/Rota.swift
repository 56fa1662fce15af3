import BenchmarkSupport
import Synchronization

/// Lets workers take people in turn, each person by one worker at a time and for no more turns than they have.
final class Rota<Person: Sendable>: Sendable {
    /// A cycle that was run.
    struct Turn: Sendable {
        /// What the client got.
        let token: String
        /// How long it took, in seconds.
        let seconds: Double
    }

    private struct State {
        var free: [(person: Person, left: Int)]
        var missing = 0
    }

    private let state: Mutex<State>

    /// A rota of these people.
    ///
    /// - Parameters:
    ///   - people: the people.
    ///   - turns: how many turns each of them has.
    init(_ people: [Person], turns: Int) {
        state = Mutex(State(free: people.map { (person: $0, left: turns) }))
    }

    /// Runs cycles.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - workers: how many at the same time.
    ///   - cycle: one with a person; returns the token that the client got.
    /// - Throws: ``Unexpected`` if people had no turns left, or a token came before.
    func run(
        _ count: Int, atOnce workers: Int, _ cycle: @escaping @Sendable (Person) async throws -> String
    ) async throws -> [Turn] {
        state.withLock { $0.missing = count }
        let turns = try await withThrowingTaskGroup(of: [Turn].self) { group in
            for _ in 0..<workers { group.addTask { try await self.work(cycle) } }
            var turns: [Turn] = []
            for try await more in group { turns += more }
            return turns
        }
        guard turns.count == count, Set(turns.map(\.token)).count == count else {
            throw Unexpected(description: "\(turns.count) of \(count) cycles, or a token that was given twice")
        }
        return turns
    }

    private func work(_ cycle: (Person) async throws -> String) async throws -> [Turn] {
        var turns: [Turn] = []
        while let (person, left) = take() {
            let begin = ContinuousClock.now
            let token = try await cycle(person)
            turns.append(Turn(token: token, seconds: (ContinuousClock.now - begin).inSeconds))
            if left > 1 { state.withLock { $0.free.append((person: person, left: left - 1)) } }
        }
        return turns
    }

    /// Who has waited longest; nil if no more cycles are wanted, or nobody is free.
    private func take() -> (person: Person, left: Int)? {
        state.withLock { state in
            guard state.missing > 0, !state.free.isEmpty else { return nil }
            state.missing -= 1
            return state.free.removeFirst()
        }
    }
}
