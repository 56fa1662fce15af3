import BenchmarkSupport
import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import StorageTestSupport

/// A clock that all processes of a machine share.
func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The measurements for one kind of message.
struct Outcome: Sendable {
    let count: Int
    /// The time until all had arrived and were recorded, in seconds.
    let seconds: Double
    /// The times from commit to arrival of messages sent one by one, in seconds, ascending.
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

    /// Computes latencies from the times of commit and arrival.
    static func latencies(_ committed: [String: UInt64], _ arrived: [String: UInt64]) -> [Double] {
        committed.compactMap { id, from in
            arrived[id].map { to in to > from ? Double(to - from) / 1e9 : 0 }
        }.sorted()
    }
}

/// Parses the receivers' output: an id and a time on each line.
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
    /// A callback with a body of realistic length.
    func callback(to uri: String, of client: ClientID, dueIn seconds: Int64 = 0) -> OutboxMessage {
        let now = time.now
        return OutboxMessage(
            id: newID(),
            content: .callback(
                CallbackURI(stored: uri), client: client, body: [UInt8](repeating: UInt8(ascii: "x"), count: 350)),
            dueAt: now.adding(seconds: seconds), expiresAt: now.adding(OutboxMessage.lifetime))
    }

    /// Queues this many callbacks, many in each commit.
    func enqueue(_ count: Int, to uri: String, of client: ClientID, dueIn seconds: Int64 = 0) async throws {
        for batch in stride(from: 0, to: count, by: 1000) {
            let messages = (batch..<min(count, batch + 1000)).map { _ in callback(to: uri, of: client, dueIn: seconds) }
            try await store.commit { writer in
                for message in messages { try writer.outbox.enqueue(message) }
            }
        }
    }
}
