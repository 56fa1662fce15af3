package import CountersignCore
package import CountersignWire
import Encodings
package import NIOCore

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
        switch await client.content(at: uri.description, within: timeout, atMost: Self.maximumSize) {
        case .failed(let reason): return .failed(reason)
        case .content(let bytes):
            guard let document = try? JSONValue(parsing: bytes) else { return .failed("they are no JSON") }
            return .document(document)
        }
    }
}
