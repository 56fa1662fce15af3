import AsyncHTTPClient
import CountersignCore
import Synchronization

/// The client of whoever calls where callbacks may go, from its start to its shutdown.
final class CallbackClient: Sendable {
    private let reach: OutboundAddressPolicy
    private let client = Mutex<HTTPClient?>(nil)

    /// A client that is not there before ``start()``.
    init(reach: OutboundAddressPolicy) {
        self.reach = reach
    }

    /// The client; nil before the start and after the shutdown.
    var current: HTTPClient? { client.withLock { $0 } }

    func start() {
        client.withLock { $0 = CallbackSender.makeClient(reach: reach) }
    }

    func shutdown() async throws {
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        try await client?.shutdown()
    }
}
