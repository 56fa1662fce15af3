import BenchmarkSupport
import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import StorageTestSupport

/// The clock that all processes of a machine share.
func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// What was measured of one kind of message.
struct Outcome: Sendable {
    /// How many.
    let count: Int
    /// How long it took until all had arrived and were noted, in seconds.
    let seconds: Double
    /// From commit to arrival, in seconds, ascending: of messages that came one by one.
    let latencies: [Double]

    var rate: Double { Double(count) / seconds }

    var text: String {
        func at(_ part: Double) -> String {
            guard !latencies.isEmpty else { return "-" }
            let value = latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))] * 1000
            return "\((value * 10).rounded() / 10) ms"
        }
        return "\(count) in \((seconds * 100).rounded() / 100) s, \(Int(rate))/s; from commit to arrival at "
            + "\(latencies.count) one by one: half within \(at(0.5)), 95 % within \(at(0.95)), 99 % within \(at(0.99))"
    }

    /// Latencies by when each message was committed and when it came.
    static func latencies(_ committed: [String: UInt64], _ arrived: [String: UInt64]) -> [Double] {
        committed.compactMap { id, from in
            arrived[id].map { to in to > from ? Double(to - from) / 1e9 : 0 }
        }.sorted()
    }
}

/// Ids and times as the receivers tell them: a line each.
func arrivals(_ text: String) -> [String: UInt64] {
    var arrivals: [String: UInt64] = [:]
    for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count == 2, let time = UInt64(words[1]) else { continue }
        arrivals[String(words[0])] = time
    }
    return arrivals
}

extension World {
    /// A callback as long as a real one.
    func callback(to uri: String, of client: ClientID, dueIn seconds: Int64 = 0) -> OutboxMessage {
        let now = time.now
        return OutboxMessage(
            id: newID(),
            content: .callback(
                CallbackURI(stored: uri), client: client, body: [UInt8](repeating: UInt8(ascii: "x"), count: 350)),
            dueAt: now.adding(seconds: seconds), expiresAt: now.adding(seconds: OutboxMessage.lifetime))
    }

    /// Queues so many callbacks, many to a commit.
    func enqueue(_ count: Int, to uri: String, of client: ClientID, dueIn seconds: Int64 = 0) async throws {
        for batch in stride(from: 0, to: count, by: 1000) {
            let messages = (batch..<min(count, batch + 1000)).map { _ in callback(to: uri, of: client, dueIn: seconds) }
            try await store.commit { writer in
                for message in messages { try writer.outbox.enqueue(message) }
            }
        }
    }
}
