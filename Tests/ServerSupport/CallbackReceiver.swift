package import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A receiver of callbacks or pushes: a server on a free local port that accepts every POST.
package struct CallbackReceiver: Sendable {
    /// One POST request.
    package struct Call: Sendable {
        /// The header fields, by lower-case names.
        package let headers: [String: String]
        /// The body.
        package let body: [UInt8]
    }

    /// The URL at which it listens.
    package let url: String
    /// The requests that arrive.
    package let calls: AsyncStream<Call>

    /// Runs a body while a receiver listens.
    ///
    /// - Parameters:
    ///   - statuses: the statuses for the first requests; all later ones are accepted.
    ///   - bodies: the bodies of the first replies; all later ones are empty.
    ///   - body: the body to run.
    package static func with<Result: Sendable>(
        answering statuses: [Int] = [], saying bodies: [JSONValue] = [],
        _ body: @escaping @Sendable (CallbackReceiver) async throws -> Result
    ) async throws -> Result {
        let (calls, arrive) = AsyncStream.makeStream(of: Call.self)
        let answers = Mutex(statuses)
        let sayings = Mutex(bodies)
        let router = Router()
        router.post("/:path") { request, _ -> Response in
            var request = request
            let body = try await request.collectBody(upTo: 1 << 20)
            let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $1 }
            arrive.yield(Call(headers: headers, body: Array(body.readableBytesView)))
            let status = answers.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
            // The target of the redirect does not exist, so a sender that follows it gets no success.
            let fields: HTTPFields = (300..<400).contains(status) ? [.location: "/nowhere"] : [:]
            let saying = sayings.withLock { $0.isEmpty ? [] : $0.removeFirst().encoded }
            return Response(
                status: HTTPResponse.Status(code: status), headers: fields,
                body: .init(byteBuffer: ByteBuffer(bytes: saying)))
        }
        return try await LocalServer.with(router.buildResponder()) { url in
            try await body(CallbackReceiver(url: "\(url)/hook", calls: calls))
        }
    }
}
