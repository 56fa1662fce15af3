import AsyncHTTPClient
import Countersign
import Foundation
import NIOPosix
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Knows which kills cut a request off: one that was sent before the kill and never answered.
///
/// Requests that only wait for news do not count. One is always under way, and killing it proves nothing.
final class Flights: Sendable {
    private struct State {
        var kills = 0
        var hits: Set<Int> = []
    }

    private let state = Mutex(State())

    /// The server is about to be killed.
    func noteKill() { state.withLock { $0.kills += 1 } }

    /// Of the first so many kills, how many cut a request off.
    func hits(among kills: Int) -> Int { state.withLock { $0.hits.count { $0 <= kills } } }

    /// Sends a request and takes note of it, unless it only waits.
    func track<Answer>(waits: Bool, _ send: () async throws -> Answer) async throws -> Answer {
        let earlier = state.withLock { $0.kills }
        do {
            return try await send()
        } catch {
            if !waits, Self.hadLeft(error) {
                state.withLock { state in
                    if state.kills > earlier { state.hits.insert(earlier + 1) }
                }
            }
            throw error
        }
    }

    /// Whether the request had left: one that found nobody to connect to had not.
    private static func hadLeft(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is NIOConnectionError: false
        case let error as HTTPClientError: error != .connectTimeout && error != .cancelled
        case let error as URLError: error.code != .cannotConnectToHost && error.code != .cancelled
        default: true
        }
    }
}

/// How a phone's requests travel, and are counted.
struct CountedTransport: Transport {
    private let base = URLSessionTransport()
    let flights: Flights

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await flights.track(waits: request.url.query?.contains("wait=") == true) { try await base.send(request) }
    }
}
