import CountersignServer
import CountersignWire
import Encodings
import NIOHTTP1

extension Remote {
    /// The pause before a request is repeated whose stream has broken off.
    private static let pause = Duration.seconds(1)

    /// Asks and waits: the reply to the request, and then the challenge when it has ended, with its receipt.
    ///
    /// A stream that breaks off after the reply is taken up again by the same request, which asks nobody again.
    ///
    /// - Parameters:
    ///   - body: the request.
    ///   - key: its idempotency key.
    ///   - time: how long to wait after the reply; if the challenge does not end by then, there is no second element.
    func askAndWait(
        _ body: JSONValue, idempotency key: String, for time: Duration = .seconds(86_400)
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        AsyncThrowingStream { told in
            let asking = Task {
                do {
                    try await ask(body, idempotency: key, for: time, telling: told)
                } catch {
                    told.finish(throwing: error)
                }
            }
            told.onTermination = { _ in asking.cancel() }
        }
    }

    private func ask(
        _ body: JSONValue, idempotency key: String, for time: Duration,
        telling told: AsyncThrowingStream<JSONValue, any Error>.Continuation
    ) async throws {
        var isEnded = false
        var asked: JSONValue?
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        while !isEnded {
            var event = ""
            do {
                try await lines(.POST, "/v1/challenges", body, idempotency: key, accept: "text/event-stream") { line in
                    if line.hasPrefix("event: ") { event = String(line.dropFirst("event: ".count)) }
                    guard line.hasPrefix("data: "), let json = try? JSONValue(parsing: line.dropFirst(6).utf8) else {
                        return
                    }
                    switch event {
                    case "asked" where asked == nil:
                        asked = json["id"]
                        told.yield(json)
                        timer = Task {
                            try await Task.sleep(for: time)
                            told.finish()
                        }
                    // After a day the server has forgotten the key, and has asked anew.
                    case "ended" where json["id"] == asked:
                        isEnded = true
                        told.yield(json)
                    default: break
                    }
                }
            } catch let error where asked != nil && Self.passes(error) {}
            guard asked != nil else {
                throw CommandError(
                    """
                    The server did not reply by a stream. The question may have been asked: see countersign challenge \
                    list.
                    """)
            }
            if !isEnded { try await Task.sleep(for: Self.pause) }
        }
        told.finish()
    }

    /// Whether a repeated request may succeed.
    private static func passes(_ error: any Error) -> Bool {
        switch error {
        case let error as CommandError: error.status == .unreachable
        case let problem as ProblemDetails: ProblemCode(rawValue: problem.code)?.meaning.retryHelps == true
        default: false
        }
    }
}
