import Countersign
import CountersignWire
import Encodings
import Foundation
import Synchronization
import Testing

/// A server that takes every answer and every change, and remembers what it got.
final class RecordingServer: Transport {
    let stub: StubServer
    private let heard = Mutex<[TransportRequest]>([])

    init(_ stub: StubServer) { self.stub = stub }

    /// The requests that are signed, in order.
    var signed: [TransportRequest] { heard.withLock { $0 }.filter { $0.headers["Signature"] != nil } }

    /// The sealed messages that were posted to paths with this end.
    func messages(to end: String) throws -> [[UInt8]] {
        try signed.filter { $0.method == "POST" && $0.url.path.hasSuffix(end) }.map { request in
            let body = try JSONValue(parsing: request.body ?? [])
            return try #require(body["message"]?.string.flatMap { Base64.decode($0) })
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        heard.withLock { $0.append(request) }
        switch (request.method, request.url.lastPathComponent) {
        case ("GET", "methods"):
            let nonce = try #require(Nonce(bytes: Array(0..<32)))
            let reply = MethodsReply(
                nonce: nonce, pin: .none, attemptsLeft: 0, policy: .standard, hasBiometric: false, changesLeft: 50)
            return TransportResponse(status: 200, headers: [:], body: reply.json.encoded)
        case ("POST", "methods"): return TransportResponse(status: 204, headers: [:], body: [])
        case ("POST", "answer"):
            return TransportResponse(status: 200, headers: [:], body: Array(#"{"state":"approved"}"#.utf8))
        default: return try await stub.send(request)
        }
    }
}
