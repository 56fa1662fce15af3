import BenchmarkSupport
import Foundation
import Synchronization

/// A request and what came of it.
struct Exchange: Sendable {
    let reply: PlainReply
    /// When the request was sent.
    let at: ContinuousClock.Instant
    /// How long the reply took, in seconds.
    let seconds: Double
}

/// Connections that work on a list of requests, each on the next one in turn.
struct Volley: Sendable {
    private let connections: [LeanConnection]

    /// Opens connections, to each of these ports of this machine in turn.
    init(to ports: [Int], connections count: Int) throws {
        connections = try (0..<count).map { try LeanConnection(toPort: ports[$0 % ports.count]) }
    }

    /// Closes the connections.
    func end() { for connection in connections { connection.end() } }

    /// Sends requests, and returns what came of each; nil where a request had become too old.
    ///
    /// - Throws: ``Unexpected`` if a reply has another status than the one expected.
    func fire(_ requests: ArraySlice<PreparedRequest>, expecting status: Int) async throws -> [Exchange?] {
        let course = Course(requests, status)
        return try await withThrowingTaskGroup(of: [(Int, Exchange)].self) { group in
            for connection in connections {
                group.addTask { try await Self.onOwnThread { try course.run(connection) } }
            }
            var exchanges: [Exchange?] = Array(repeating: nil, count: requests.count)
            while let done = try await group.next() {
                for (number, exchange) in done { exchanges[number] = exchange }
            }
            return exchanges
        }
    }

    /// Runs something that blocks: the threads of Swift's tasks are as few as the processors.
    private static func onOwnThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}

/// The way of all connections through the requests.
private final class Course: Sendable {
    private let requests: ArraySlice<PreparedRequest>
    private let status: Int
    private let next: Atomic<Int>

    init(_ requests: ArraySlice<PreparedRequest>, _ status: Int) {
        (self.requests, self.status) = (requests, status)
        next = Atomic(requests.startIndex)
    }

    /// Sends what no other connection has sent.
    func run(_ connection: LeanConnection) throws -> [(Int, Exchange)] {
        var done: [(Int, Exchange)] = []
        do {
            while true {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < requests.endIndex else { return done }
                let begin = ContinuousClock.now
                if let end = requests[number].notAfter, begin > end { continue }
                let reply = try connection.exchange(requests[number])
                let time = (ContinuousClock.now - begin).inSeconds
                guard reply.status == status else {
                    throw Unexpected(
                        description: "\(reply.status) instead of \(status): "
                            + String(decoding: reply.body.prefix(2000), as: UTF8.self))
                }
                done.append((number - requests.startIndex, Exchange(reply: reply, at: begin, seconds: time)))
            }
        } catch {
            // The others need not go on.
            next.store(requests.endIndex, ordering: .relaxed)
            throw error
        }
    }
}
