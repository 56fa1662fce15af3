import AsyncHTTPClient
import Countersign
import Foundation
import NIOPosix
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Counts the kills that interrupted a request, one that was sent before the kill and never answered, and measures
/// requests.
///
/// Waiting requests do not count. There is always one, so its interruption proves nothing.
final class Flights: Sendable {
    private struct State {
        var kills = 0
        var hits: Set<Int> = []
        var longest: [Kind: Duration] = [:]
    }

    /// Who sends a request, and whether the server may hold it.
    struct Kind: Hashable, Comparable {
        let sender: String
        let waits: Bool

        static func < (left: Self, right: Self) -> Bool {
            (left.sender, left.waits ? 1 : 0) < (right.sender, right.waits ? 1 : 0)
        }
    }

    private let state = Mutex(State())

    /// Records that the server is about to be killed.
    func noteKill() { state.withLock { $0.kills += 1 } }

    /// How many of the first kills interrupted a request.
    func hits(among kills: Int) -> Int { state.withLock { $0.hits.count { $0 <= kills } } }

    /// The longest request of each kind, answered or not.
    var longest: [Kind: Duration] { state.withLock { $0.longest } }

    /// Sends a request, measures how long it takes, and counts its interruption unless it waits.
    func track<Answer>(of kind: Kind, _ send: () async throws -> Answer) async throws -> Answer {
        let earlier = state.withLock { $0.kills }
        let begin = ContinuousClock.now
        defer {
            let length = ContinuousClock.now - begin
            state.withLock { $0.longest[kind] = max($0.longest[kind] ?? .zero, length) }
        }
        do {
            return try await send()
        } catch {
            if !kind.waits, Self.hadLeft(error) {
                state.withLock { state in
                    if state.kills > earlier { state.hits.insert(earlier + 1) }
                }
            }
            throw error
        }
    }

    /// Whether the request was sent; it was not if no connection was possible.
    private static func hadLeft(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is NIOConnectionError: false
        case let error as HTTPClientError: error != .connectTimeout && error != .cancelled
        case let error as URLError: error.code != .cannotConnectToHost && error.code != .cancelled
        default: true
        }
    }
}

/// A phone's transport, which counts its requests.
struct CountedTransport: Transport {
    private let base = URLSessionTransport()
    let flights: Flights

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let kind = Flights.Kind(sender: "phone", waits: request.url.query?.contains("wait=") == true)
        return try await flights.track(of: kind) { try await base.send(request) }
    }
}
