import AsyncHTTPClient
import Countersign
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import Synchronization

/// Sends requests to one node.
struct NodeCaller: Sendable {
    /// The node's URL.
    let url: String

    func send(
        _ method: HTTPMethod, _ path: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(60))
        return Reply(
            method: method, path: path, status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" },
            body: Array(try await response.body.collect(upTo: 8 << 20).readableBytesView))
    }
}

/// A phone's transport to one node, which notes when the node has taken an answer.
final class NotingTransport: Transport {
    private let node: NodeCaller
    private let issuer: String
    private let noted = Mutex<ContinuousClock.Instant?>(nil)

    init(to node: NodeCaller, issuer: String) {
        self.node = node
        self.issuer = issuer
    }

    /// When the phone got its last 200 for an answer; nil if it has got none.
    var answeredAt: ContinuousClock.Instant? { noted.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = String(request.url.absoluteString.dropFirst(issuer.count))
        let reply = try await node.send(
            HTTPMethod(rawValue: request.method), path, fields: request.headers.map { ($0.key, $0.value) },
            body: request.body)
        if path.hasSuffix("/answer"), reply.status == 200 { noted.withLock { $0 = .now } }
        return TransportResponse(status: reply.status, headers: reply.headers, body: reply.body)
    }
}
