import AsyncHTTPClient
import CountersignCore
import NIOCore
import NIOHTTP1
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

/// What came of fetching a document.
enum FetchedContent: Sendable {
    /// The content.
    case content([UInt8])
    /// Why there is none, without anything that came.
    case failed(String)
}

extension CallbackClient {
    /// Fetches a document from a host that answers 200 at once.
    ///
    /// It goes on when the task is cancelled.
    ///
    /// - Parameters:
    ///   - url: where it is.
    ///   - form: what is posted there; nil to get it.
    ///   - timeout: how long it may take, up to the last byte.
    ///   - size: how many bytes the content may have.
    func content(
        at url: String, posting form: String? = nil, within timeout: TimeAmount, atMost size: Int
    ) async -> FetchedContent {
        guard let client = current else { return .failed("the server does not run") }
        do {
            // A connection of its own: one that was kept may be closed at the moment that the next request begins.
            var headers: HTTPHeaders = [
                "accept": "application/json", "connection": "close", "user-agent": "countersign",
            ]
            if form != nil { headers.add(name: "content-type", value: "application/x-www-form-urlencoded") }
            let request = try HTTPClient.Request(
                url: url, method: form == nil ? .GET : .POST, headers: headers, body: form.map { .string($0) })
            // Unlike the asynchronous call, this one keeps the deadline up to the last byte, and goes on when the task
            // is cancelled.
            let response = try await client.execute(
                request: request, delegate: ResponseAccumulator(request: request, maxBodySize: size),
                deadline: NIODeadline.now() + timeout
            ).get()
            guard response.status == .ok else { return .failed("the host answered \(response.status.code)") }
            return .content(response.body.map { Array($0.readableBytesView) } ?? [])
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the host's address is not public")
        } catch is ResponseAccumulator.ResponseTooBigError {
            return .failed("the reply is longer than \(size) bytes")
        } catch {
            return .failed(words(of: error))
        }
    }
}
