import Synchronization
import Testing

@testable import CountersignDelivery

@Suite("What is asked for at the same time is done together", .timeLimit(.minutes(5)))
struct BatcherTests {
    private struct Refusal: Error {}

    /// Does batches of numbers, each when it is let through, and doubles them; a batch with a 13 fails.
    private final class Doubler: Sendable {
        private let batches = Mutex<[[Int]]>([])
        private let (gates, gate) = AsyncStream.makeStream(of: Void.self)

        var done: [[Int]] { batches.withLock { $0 } }

        func letThrough() { gate.yield() }

        func double(_ numbers: [Int]) async throws -> [Int] {
            batches.withLock { $0.append(numbers) }
            for await _ in gates { break }
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

    @Test("A batch that fails fails for all of it, and the next one is done")
    func failing() async throws {
        let doubler = Doubler()
        let batcher = Batcher { try await doubler.double($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let doubled = try await batcher.perform(1)
                #expect(doubled == 2)
            }
            try await eventually { doubler.done == [[1]] }
            for number in [12, 13, 14] {
                group.addTask { await #expect(throws: Refusal.self) { try await batcher.perform(number) } }
            }
            try await eventually { batcher.waitingCount == 3 }
            for _ in 0..<3 { doubler.letThrough() }
            try await group.waitForAll()
        }
        #expect(try await batcher.perform(5) == 10)
    }
}
