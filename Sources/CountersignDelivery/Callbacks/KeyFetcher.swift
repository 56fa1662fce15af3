import AsyncHTTPClient
package import CountersignCore
package import CountersignWire
import Encodings
package import NIOCore
import NIOHTTP1

/// Fetches the keys that clients publish.
///
/// It goes where callbacks may go, and follows no redirect.
///
/// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`jwks_uri`).
package final class KeyFetcher: ClientKeys {
    /// The maximum size of a document, in bytes.
    private static let maximumSize = 65_536

    private let timeout: TimeAmount
    private let client: CallbackClient

    /// Creates a fetcher that cannot fetch before ``start()``.
    ///
    /// - Parameters:
    ///   - reach: the addresses at which keys may be.
    ///   - timeout: how long a fetch may take, up to the last byte.
    package init(reach: OutboundAddressPolicy, timeout: TimeAmount = .seconds(5)) {
        client = CallbackClient(reach: reach)
        self.timeout = timeout
    }

    /// Allows fetches until ``shutdown()``.
    package func start() { client.start() }

    package func shutdown() async throws { try await client.shutdown() }

    /// Fetches the document at a URI.
    ///
    /// See ``ClientKeys/fetch(_:)``.
    package func fetch(_ uri: KeysURI) async -> FetchedKeys {
        guard let client = client.current else { return .failed("the server does not run") }
        do {
            // A connection of its own: one that was kept may be closed at the moment that the next fetch begins.
            let request = try HTTPClient.Request(
                url: uri.description,
                headers: ["accept": "application/json", "connection": "close", "user-agent": "countersign"])
            // Unlike the asynchronous call, this one keeps the deadline up to the last byte, and goes on when the task is
            // cancelled.
            let response = try await client.execute(
                request: request, delegate: ResponseAccumulator(request: request, maxBodySize: Self.maximumSize),
                deadline: NIODeadline.now() + timeout
            ).get()
            guard response.status == .ok else { return .failed("the host answered \(response.status.code)") }
            let content = response.body.map { Array($0.readableBytesView) } ?? []
            guard let document = try? JSONValue(parsing: content) else { return .failed("they are no JSON") }
            return .document(document)
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the host's address is not public")
        } catch is ResponseAccumulator.ResponseTooBigError {
            return .failed("they are longer than \(Self.maximumSize) bytes")
        } catch {
            return .failed(words(of: error))
        }
    }
}
