package import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A relying party's end of the callbacks: a server on a free port of this machine that takes every post.
package struct CallbackReceiver: Sendable {
    /// One post.
    package struct Call: Sendable {
        /// The fields, by names in lower case.
        package let headers: [String: String]
        /// The body.
        package let body: [UInt8]
    }

    /// Where it listens.
    package let url: String
    /// What arrives.
    package let calls: AsyncStream<Call>

    /// Runs something while a receiver listens.
    ///
    /// - Parameters:
    ///   - statuses: what the first posts are answered with; all others are accepted.
    ///   - bodies: what the answers to the first posts say; all others say nothing.
    ///   - body: what to run.
    package static func with<Result: Sendable>(
        answering statuses: [Int] = [], saying bodies: [JSONValue] = [],
        _ body: @escaping @Sendable (CallbackReceiver) async throws -> Result
    ) async throws -> Result {
        let (calls, arrive) = AsyncStream.makeStream(of: Call.self)
        let answers = Mutex(statuses)
        let sayings = Mutex(bodies)
        let router = Router()
        router.post("/hook") { request, _ -> Response in
            var request = request
            let body = try await request.collectBody(upTo: 1 << 20)
            let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $1 }
            arrive.yield(Call(headers: headers, body: Array(body.readableBytesView)))
            let status = answers.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
            // A redirect that leads nowhere: who follows it is not answered by it.
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
