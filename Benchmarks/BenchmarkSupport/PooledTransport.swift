import AsyncHTTPClient
package import Countersign
import Foundation
import NIOCore
import NIOHTTP1

/// Sends the SDK's requests over connections that all phones share, so that the generator needs little CPU.
package struct PooledTransport: Transport {
    private let http: HTTPClient
    private let deployment: Deployment
    private let exchanges: Exchanges

    /// Sends over the connections of a portal.
    package init(sharing portal: PortalConnection) {
        (http, deployment, exchanges) = (portal.http, portal.deployment, portal.exchanges)
    }

    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.url.absoluteString.dropFirst(deployment.issuer.count)
        var outgoing = HTTPClientRequest(url: deployment.url + path)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        if let body = request.body { outgoing.body = .bytes(body) }
        let begin = ContinuousClock.now
        let response = try await http.execute(outgoing, timeout: .seconds(Int64(request.timeout)))
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        let body = try await response.body.collect(upTo: 1 << 20)
        exchanges.note(String(path), Int(response.status.code), from: begin)
        return TransportResponse(
            status: Int(response.status.code), headers: headers, body: Array(body.readableBytesView))
    }
}
