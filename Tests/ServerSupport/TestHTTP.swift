package import AsyncHTTPClient
import NIOCore

/// The client that tests call servers with.
package enum TestHTTP {
    /// Follows no redirect, and opens as many connections as there are requests: waits that fill a small pool would
    /// keep out the very request that ends them.
    package static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.idleTimeout = .seconds(10)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
