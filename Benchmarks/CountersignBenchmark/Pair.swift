import AsyncHTTPClient
import Countersign
import Encodings
import Foundation
import NIOCore
import NIOHTTP1

/// A portal, and the phone of the user that it asks.
struct Pair: Sendable {
    /// An unexpected reply, after which the measurement cannot continue.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    let portal: PortalConnection
    let user: String
    let authenticator: Authenticator

    /// Runs cycles until the task is cancelled.
    func work(_ samples: Samples) async throws {
        var announced = authenticator.challenges().makeAsyncIterator()
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            let asked = try await portal.call(
                .POST, "/v1/challenges",
                .members([
                    "user": .string(user), "type": "payment", "message": "Pay EUR 1,250.00 to ACME GmbH?",
                    "details": [
                        ["label": "Amount", "value": "EUR 1,250.00"], ["label": "Payee", "value": "ACME GmbH"],
                    ],
                ]))
            let askEnd = ContinuousClock.now
            guard let id = asked["id"]?.string, let number = asked["number"]?.string else {
                throw Unexpected(description: "asked: \(asked)")
            }
            async let told = portal.end(of: id)
            guard let pending = await announced.next() else { return }
            let pendingEnd = ContinuousClock.now
            let opened = try await pending.open()
            let fetchEnd = ContinuousClock.now
            try await opened.approve(with: .confirmation, number: number)
            let answerEnd = ContinuousClock.now
            let (state, toldEnd) = try await told
            guard "\(pending.id)" == id, state == "approved" else {
                throw Unexpected(description: "\(id) was announced as \(pending.id) and ended as \(state)")
            }
            samples.note([
                .ask: askEnd - begin, .pendingTold: pendingEnd - begin, .fetch: fetchEnd - pendingEnd,
                .answer: answerEnd - fetchEnd, .told: toldEnd - fetchEnd, .cycle: max(toldEnd, answerEnd) - begin,
            ])
        }
    }
}

/// A portal's connection to the servers.
struct PortalConnection: Sendable {
    let http: HTTPClient
    let deployment: Deployment
    let authorization: String

    /// Sends a request; an error reply ends the measurement.
    func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        var request = HTTPClientRequest(url: deployment.url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: authorization)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body.encoded)
        }
        let response = try await http.execute(request, timeout: .seconds(90))
        let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            throw Pair.Unexpected(
                description: "\(method) \(path): \(response.status) \(String(decoding: bytes, as: UTF8.self))")
        }
        return try JSONValue(parsing: bytes)
    }

    /// Waits by long poll for the end of a challenge.
    func end(of id: String) async throws -> (state: String, at: ContinuousClock.Instant) {
        while true {
            let state = try await call(.GET, "/v1/challenges/\(id)?wait=60")["state"]?.string ?? ""
            if state != "pending" { return (state, .now) }
        }
    }
}
