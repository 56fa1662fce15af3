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
    /// Whether the portal asks and waits in one request.
    let asksAndWaits: Bool

    private var question: JSONValue {
        .members([
            "user": .string(user), "type": "payment", "message": "Pay EUR 1,250.00 to ACME GmbH?",
            "details": [
                ["label": "Amount", "value": "EUR 1,250.00"], ["label": "Payee", "value": "ACME GmbH"],
            ],
        ])
    }

    /// Runs cycles until the task is cancelled.
    func work(_ samples: Samples) async throws {
        var announced = authenticator.challenges().makeAsyncIterator()
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            let stream = asksAndWaits ? try await portal.ask(question) : nil
            let asked: JSONValue
            if let stream {
                asked = try await stream.next()
            } else {
                asked = try await portal.call(.POST, "/v1/challenges", question)
            }
            let askEnd = ContinuousClock.now
            guard let id = asked["id"]?.string, let number = asked["number"]?.string else {
                throw Unexpected(description: "asked: \(asked)")
            }
            async let told = end(of: id, on: stream)
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

extension Pair {
    /// The state at the end of a challenge, by its stream or by long poll.
    private func end(
        of id: String, on stream: Events?
    ) async throws -> (state: String, at: ContinuousClock.Instant) {
        if let stream { return (try await stream.next()["state"]?.string ?? "", .now) }
        return try await portal.end(of: id)
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

    /// Asks, and keeps the stream open on which the end comes.
    func ask(_ question: JSONValue) async throws -> Events {
        var request = HTTPClientRequest(url: deployment.url + "/v1/challenges")
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Authorization", authorization), ("Content-Type", "application/json"), ("Accept", "text/event-stream"),
            ("Idempotency-Key", "\(UInt64.random(in: 0...(.max)))"),
        ])
        request.body = .bytes(question.encoded)
        let response = try await http.execute(request, timeout: .seconds(90))
        guard response.status == .created else { throw Pair.Unexpected(description: "asked: \(response.status)") }
        return Events.events(of: response.body)
    }

    /// Waits by long poll for the end of a challenge.
    func end(of id: String) async throws -> (state: String, at: ContinuousClock.Instant) {
        while true {
            let state = try await call(.GET, "/v1/challenges/\(id)?wait=60")["state"]?.string ?? ""
            if state != "pending" { return (state, .now) }
        }
    }
}

/// The data of the events of a question that waits for its end, in order.
typealias Events = AsyncThrowingStream<JSONValue, any Error>

extension Events {
    /// The events of a reply.
    static func events(of body: HTTPClientResponse.Body) -> Events {
        let (events, continuation) = makeStream()
        Task {
            do {
                var text = ""
                for try await part in body {
                    text += String(buffer: part)
                    while let end = text.range(of: "\n\n") {
                        let event = text[..<end.lowerBound]
                        if let data = event.range(of: "data: ") {
                            continuation.yield(try JSONValue(parsing: Array(event[data.upperBound...].utf8)))
                        }
                        text = String(text[end.upperBound...])
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return events
    }

    /// The next event.
    func next() async throws -> JSONValue {
        for try await event in self { return event }
        throw Pair.Unexpected(description: "the stream has ended")
    }
}
