package import AsyncHTTPClient
import NIOCore

/// The HTTP client of the tests.
package enum TestHTTP {
    /// Follows no redirects, and opens a connection for every request: in a small pool, waiting requests would block
    /// the request that ends their wait.
    package static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.idleTimeout = .seconds(10)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
