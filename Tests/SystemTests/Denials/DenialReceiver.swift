import BenchmarkSupport
import Encodings
import NIOCore

/// Where the client is told of denials; it notes when.
struct DenialReceiver: Sendable {
    /// What the client was told.
    struct Arrival: Sendable {
        let at: ContinuousClock.Instant
        let body: JSONValue
    }

    private let server: HTTPReceiver
    private let arrivals: AsyncStream<Arrival>

    /// Its address.
    var uri: String { "http://127.0.0.1:\(server.port)/told" }

    /// Listens on a free port.
    init() async throws {
        let (arrivals, arrive) = AsyncStream.makeStream(of: Arrival.self)
        self.arrivals = arrivals
        server = try await HTTPReceiver { _, body in
            let now = ContinuousClock.now
            let json = try? JSONValue(parsing: Array(body.readableBytesView))
            arrive.yield(Arrival(at: now, body: json ?? .null))
            return ByteBuffer()
        }
    }

    /// The next arrival for which this holds; nil when the task is cancelled.
    func arrival(where isWanted: (JSONValue) -> Bool) async -> Arrival? {
        for await arrival in arrivals where isWanted(arrival.body) { return arrival }
        return nil
    }

    /// Stops listening.
    func close() async throws { try await server.close() }
}
