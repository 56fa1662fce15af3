import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import Encodings
import Foundation
import NIOCore
import NIOHTTP1

/// A portal, and the phone of the user that it asks.
struct Pair: Sendable {
    let portal: PortalConnection
    let user: String
    let phone: Authenticator
    let kind: Kind
    let receiver: Receiver

    /// Runs cycles until the task is cancelled.
    func work(_ samples: Samples) async throws {
        var announced = kind.isClaimed ? nil : phone.challenges().makeAsyncIterator()
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            let question = kind.question(to: user, calling: receiver)
            let stream = kind == .askAndWait ? try await portal.ask(question) : nil
            let asked: JSONValue
            if let stream {
                asked = try await stream.next()
            } else {
                asked = try await portal.call(.POST, "/v1/challenges", question)
            }
            let askEnd = ContinuousClock.now
            guard let id = asked["id"]?.string else { throw Unexpected(description: "asked: \(asked)") }
            async let told = end(of: id, on: stream)
            var pending = await announced?.next()
            // An earlier measurement may have ended in the middle of a cycle.
            while let other = pending, "\(other.id)" != id { pending = await announced?.next() }
            if pending == nil, !kind.isClaimed { return }
            let pendingEnd = ContinuousClock.now
            let opened: OpenedChallenge
            if let pending { opened = try await pending.open() } else { opened = try await claimed(asked["code"]) }
            let fetchEnd = ContinuousClock.now
            let approved = try await opened.approve(with: try kind.proof, number: asked["number"]?.string)
            if kind == .link { try await portal.present(approved.returnURL, of: id) }
            let answerEnd = ContinuousClock.now
            let (state, toldEnd) = try await told
            guard "\(opened.id)" == id, state == "approved" else {
                throw Unexpected(description: "\(id) was opened as \(opened.id) and ended as \(state)")
            }
            samples.note([
                .ask: askEnd - begin, .pendingTold: pendingEnd - begin, .fetch: fetchEnd - pendingEnd,
                .answer: answerEnd - fetchEnd, .told: toldEnd - fetchEnd, .cycle: max(toldEnd, answerEnd) - begin,
            ])
        }
    }

    /// The challenge of a code that the phone has scanned, or of a link that it has followed.
    private func claimed(_ code: JSONValue?) async throws -> OpenedChallenge {
        guard let enrollment = await phone.enrollments.first else { throw Unexpected(description: "not enrolled") }
        if let link = code?["link"]?.string.flatMap({ URL(string: $0) }) {
            return try await enrollment.claim(link: link)
        }
        return try await enrollment.claim(code?["qr"]?.string ?? "")
    }

    /// The state at the end of a challenge: by its stream, by callback or by long poll.
    private func end(
        of id: String, on stream: Events?
    ) async throws -> (state: String, at: ContinuousClock.Instant) {
        if let stream { return (try await stream.next()["state"]?.string ?? "", .now) }
        if kind == .callback {
            await receiver.end(of: id)
            return ("approved", .now)
        }
        return try await portal.end(of: id)
    }
}

extension PortalConnection {
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
        guard response.status == .created else { throw Unexpected(description: "asked: \(response.status)") }
        return Events.events(of: response.body)
    }

    /// Presents the code that a link's approval brought back to the browser.
    func present(_ url: URL?, of id: String) async throws {
        let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }?.queryItems ?? []
        let code = items.first { $0.name == "return_code" }?.value ?? ""
        _ = try await call(.POST, "/v1/challenges/\(id)/return", .members(["return_code": .string(code)]))
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
        throw Unexpected(description: "the stream has ended")
    }
}
