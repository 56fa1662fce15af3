/// Where one answer of the app's is taken: the first counts, and giving up the challenge unanswered counts as well.
final class Answer<Value: Sendable>: Sendable {
    private let continuation: AsyncStream<Value>.Continuation

    fileprivate init(_ continuation: AsyncStream<Value>.Continuation) {
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
    }

    func give(_ value: Value) {
        continuation.yield(value)
        continuation.finish()
    }
}

/// How the app was answered, or was not.
enum Answered<Value: Sendable>: Sendable {
    /// The answer.
    case given(Value)
    /// The app has let go of the challenge: nobody will answer any more.
    case dropped
    /// There was no answer in time.
    case late
}

/// Asks the app, and waits for its answer.
///
/// - Parameters:
///   - limit: how long an answer is of use; nil for ever.
///   - ask: hands over the challenge, which alone keeps the ``Answer``.
@MainActor
func firstAnswer<Value: Sendable>(
    within limit: Duration? = nil, _ ask: @MainActor (Answer<Value>) -> Void
) async -> Answered<Value> {
    let (answers, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
    ask(Answer(continuation))
    return await withTaskGroup(of: Answered<Value>.self) { group in
        group.addTask {
            for await value in answers { return .given(value) }
            return .dropped
        }
        if let limit {
            group.addTask {
                try? await Task.sleep(for: limit)
                return .late
            }
        }
        let first = await group.next()
        group.cancelAll()
        return first ?? .dropped
    }
}
