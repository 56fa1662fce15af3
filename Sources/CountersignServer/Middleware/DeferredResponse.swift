import Hummingbird
import Synchronization

/// Takes the rest of the answer to one request, when it is known only after a wait.
final class DeferredResponse: Sendable {
    private let rest = Mutex<(@Sendable () async throws -> Response)?>(nil)

    /// Leaves a request to be answered later.
    ///
    /// - Parameter body: waits, and answers.
    /// - Returns: what stands for the answer until it is known.
    func answer(_ body: @escaping @Sendable () async throws -> Response) -> Response {
        rest.withLock { $0 = body }
        return Response(status: .ok)
    }

    /// What is to be done for the answer; nil when it is known.
    func take() -> (@Sendable () async throws -> Response)? {
        rest.withLock { $0.take() }
    }
}
