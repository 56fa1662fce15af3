import AsyncHTTPClient
import Countersign
import CountersignServer
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// HTTP for the terminal phone if `SSL_CERT_FILE` names the trusted certificate authorities.
///
/// On Linux, Foundation has no setting for this, and all commands should trust the same authorities.
struct NamedAuthorityTransport: Transport {
    private static let maximumReply = 4 * 1024 * 1024
    /// One client for the process; it ends with the process.
    private static let client = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        TrustRoots.apply(to: &configuration)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// The transport; nil if no authorities are named.
    init?() {
        guard ProcessInfo.processInfo.environment["SSL_CERT_FILE"]?.isEmpty == false else { return nil }
    }

    /// See ``Transport/send(_:)``.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        let limit = TimeAmount.milliseconds(Int64(request.timeout * 1000))
        let response = try await Self.client.execute(message, timeout: limit)
        let body = try await response.body.collect(upTo: Self.maximumReply)
        let headers = response.headers.map { ($0.name.lowercased(), $0.value) }
        return TransportResponse(
            status: Int(response.status.code), headers: Dictionary(headers) { "\($0), \($1)" },
            body: Array(body.readableBytesView))
    }
}
