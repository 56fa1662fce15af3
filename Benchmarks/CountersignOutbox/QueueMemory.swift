import BenchmarkSupport
import CountersignCore
import CountersignStorage
import CountersignWire
import Foundation
import StorageTestSupport

/// Measures the memory that a long queue needs.
enum QueueMemory {
    static func measure(_ count: Int) async throws -> String {
        let world = try await World()
        let client = try await world.makeClient().client
        let process = MeasuredProcess(id: getpid())
        let now = world.time.now
        try await world.enqueue(count, to: "https://shop.example.com/hook", of: client.id, dueIn: 3600)
        let before = process.residentMemory
        // What a worker does while messages wait, and when some become due.
        for _ in 0..<1000 { _ = try await world.store.nextDue() }
        let later = now.adding(seconds: 3601)
        for _ in 0..<100 { _ = try await world.store.lease(limit: 16, now: later, until: later.adding(seconds: 60)) }
        let grown = max(0, process.residentMemory - before)
        return "\(count) waiting: looking at them 1000 times and leasing 1600 took \(grown / 1024) KiB of memory more"
    }
}
