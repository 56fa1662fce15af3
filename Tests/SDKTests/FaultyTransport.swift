import Countersign
import Foundation
import Synchronization

/// The network as it can be: requests and replies get lost, and others put themselves in between.
final class FaultyTransport: Transport {
    /// Sends a request by the base transport.
    typealias Send = @Sendable (TransportRequest) async throws -> TransportResponse
    /// What happens to a request instead of being sent.
    typealias Fault = @Sendable (TransportRequest, Send) async throws -> TransportResponse

    /// What the network says when it fails.
    struct Lost: Error {}

    private struct State {
        var fault: Fault?
        var sent: [TransportRequest] = []
    }

    private let base = URLSessionTransport()
    private let state = Mutex(State())

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let fault = state.withLock { state in
            state.sent.append(request)
            return state.fault
        }
        guard let fault else { return try await base.send(request) }
        return try await fault(request) { [base] in try await base.send($0) }
    }

    /// From now on this happens to requests; nil for nothing.
    func happen(_ fault: Fault?) {
        state.withLock { $0.fault = fault }
    }

    /// The bodies of the requests to paths that end like this, in order.
    func bodies(to suffix: String) -> [[UInt8]] {
        requests(to: suffix).compactMap(\.body)
    }

    /// The requests to paths that end like this, in order.
    func requests(to suffix: String) -> [TransportRequest] {
        state.withLock { $0.sent }.filter { $0.url.path.hasSuffix(suffix) }
    }

    /// Loses the next requests to a path on the way there.
    func loseRequests(_ count: Int, to suffix: String) {
        let left = Countdown(count)
        happen { request, send in
            guard request.url.path.hasSuffix(suffix), left.takeOne() else { return try await send(request) }
            throw Lost()
        }
    }

    /// Loses the next replies from a path on the way back: the server has done its work.
    func loseReplies(_ count: Int, from suffix: String) {
        let left = Countdown(count)
        happen { request, send in
            let response = try await send(request)
            guard request.url.path.hasSuffix(suffix), left.takeOne() else { return response }
            throw Lost()
        }
    }

    /// Sends the next requests to a path twice and gives back the second reply, as HTTP libraries do by themselves when
    /// a connection breaks before the first one.
    func sendTwice(_ count: Int, to suffix: String) {
        let left = Countdown(count)
        happen { request, send in
            if request.url.path.hasSuffix(suffix), left.takeOne() { _ = try await send(request) }
            return try await send(request)
        }
    }

    /// Puts another reply in place of those from a path.
    func reply(_ response: TransportResponse, from suffix: String) {
        happen { request, send in
            request.url.path.hasSuffix(suffix) ? response : try await send(request)
        }
    }

    /// Counts down to zero.
    private final class Countdown: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        func takeOne() -> Bool {
            left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
        }
    }
}
