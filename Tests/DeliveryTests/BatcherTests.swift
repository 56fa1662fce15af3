import Synchronization
import Testing

@testable import CountersignDelivery

@Suite("What is asked for at the same time is done together", .timeLimit(.minutes(15)))
struct BatcherTests {
    private struct Refusal: Error {}

    /// Does batches of numbers, each when it is let through, and doubles them; a batch with a 13 fails.
    private final class Doubler: Sendable {
        private let batches = Mutex<[[Int]]>([])
        private let passes = Mutex(0)

        var done: [[Int]] { batches.withLock { $0 } }

        func letThrough() { passes.withLock { $0 += 1 } }

        private func pass() -> Bool {
            passes.withLock { passes in
                defer { passes = max(0, passes - 1) }
                return passes > 0
            }
        }

        func double(_ numbers: [Int]) async throws -> [Int] {
            batches.withLock { $0.append(numbers) }
            while !pass() { try await Task.sleep(for: .milliseconds(1)) }
            if numbers.contains(13) { throw Refusal() }
            return numbers.map { $0 * 2 }
        }
    }

    private func eventually(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("The first begins alone at once; what comes meanwhile makes one batch, and each gets what is its own")
    func together() async throws {
        let doubler = Doubler()
        let batcher = Batcher { try await doubler.double($0) }
        let doubled = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            group.addTask { (1, try await batcher.perform(1)) }
            try await eventually { doubler.done == [[1]] }
            for number in 2...9 { group.addTask { (number, try await batcher.perform(number)) } }
            try await eventually { batcher.waitingCount == 8 }
            #expect(doubler.done == [[1]])
            doubler.letThrough()
            doubler.letThrough()
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(doubled == Dictionary(uniqueKeysWithValues: (1...9).map { ($0, $0 * 2) }))
        #expect(doubler.done.count == 2 && doubler.done.last?.sorted() == Array(2...9))
        // Nothing is left over that the next one would wait for.
        doubler.letThrough()
        #expect(try await batcher.perform(21) == 42)
    }

    @Test("Of a batch that fails each is done by itself, and only whose fault it is fails")
    func failing() async throws {
        let doubler = Doubler()
        let batcher = Batcher { try await doubler.double($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let doubled = try await batcher.perform(1)
                #expect(doubled == 2)
            }
            try await eventually { doubler.done == [[1]] }
            group.addTask { await #expect(throws: Refusal.self) { try await batcher.perform(13) } }
            for number in [12, 14] {
                group.addTask {
                    let doubled = try await batcher.perform(number)
                    #expect(doubled == number * 2)
                }
            }
            try await eventually { batcher.waitingCount == 3 }
            for _ in 0..<6 { doubler.letThrough() }
            try await group.waitForAll()
        }
        #expect(doubler.done.map(\.count).sorted() == [1, 1, 1, 1, 3])
        #expect(try await batcher.perform(5) == 10)
    }
}
