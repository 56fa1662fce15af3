import Countersign
import Foundation
import ServerTestSupport

/// Shows the server's watch what goes both ways between an app and the server.
struct WatchedTransport: Transport {
    let base: any Transport
    let watch: ServerWatch

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        let query = request.url.query().map { "?\($0)" } ?? ""
        watch.note(
            request.method, request.url.path() + query,
            request: (headers: request.headers.map { ($0.key, $0.value) }, body: request.body),
            reply: (status: response.status, headers: response.headers, body: response.body))
        return response
    }
}
