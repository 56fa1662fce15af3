import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Foundation
import StorageTestSupport
import TestSupport

/// Runs the server's own outbox worker.
struct Delivery: Sendable {
    let world: World
    let callbacks = CallbackSender.makeClient(reach: .publicAddressesAndLoopback)
    let pushClient: HTTPClient
    let pushes: PushSender

    /// Runs something while the worker runs.
    func running<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let worker = OutboxWorker(
            queue: world.store, ports: world.ports, callbacks: CallbackSender(client: callbacks), pushes: pushes)
        let hub = world.hub
        let ticking = Task { try await hub.run() }
        let running = Task { try await worker.run() }
        let result = try await body()
        running.cancel()
        ticking.cancel()
        _ = await running.result
        return result
    }

    /// Returns when no message is waiting any more.
    ///
    /// The query counts all waiting messages, and running it every two milliseconds took a considerable part of the
    /// measured time.
    func emptied() async throws {
        while try await world.store.outboxStatus().count > 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    func shutdown() async throws {
        try await callbacks.shutdown()
        try await pushClient.shutdown()
    }
}

/// Sends callbacks to a receiver in a separate process.
enum CallbackLoad {
    /// How many messages are sent one by one, and the pause between them in milliseconds.
    static let single = (count: 1000, pause: 4)

    static func measure(_ count: Int) async throws -> Outcome {
        let world = try await World()
        let client = try await world.makeClient().client
        let receiver = try RunningProgram(CommandLine.arguments[0], ["receive"])
        guard let port = await receiver.line() else { throw World.Broken("the receiver did not start") }
        let uri = "http://127.0.0.1:\(port)/hook"
        let pushClient = PushSender.makeClient()
        let delivery = Delivery(world: world, pushClient: pushClient, pushes: PushSender())
        try await world.enqueue(count, to: uri, of: client.id)
        let begin = nanoseconds()
        let (seconds, committed) = try await delivery.running {
            try await delivery.emptied()
            let seconds = Double(nanoseconds() - begin) / 1e9
            var committed: [String: UInt64] = [:]
            for _ in 0..<single.count {
                let message = world.callback(to: uri, of: client.id)
                try await world.store.commit { writer in
                    try writer.outbox.enqueue(message)
                }
                committed["\(message.id)"] = nanoseconds()
                try await Task.sleep(for: .milliseconds(single.pause))
            }
            try await delivery.emptied()
            return (seconds, committed)
        }
        try await delivery.shutdown()
        let came = arrivals(try await receiver.result().output)
        guard came.count == count + single.count else { throw World.Broken("\(came.count) callbacks came") }
        return Outcome(count: count, seconds: seconds, latencies: Outcome.latencies(committed, came))
    }
}
