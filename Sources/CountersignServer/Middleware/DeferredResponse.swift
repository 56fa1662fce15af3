import Hummingbird
import Synchronization

/// Holds the work that answers a request after a wait.
final class DeferredResponse: Sendable {
    private let rest = Mutex<(@Sendable () async throws -> Response)?>(nil)

    /// Defers the answer to a request.
    ///
    /// - Parameter body: waits, and answers.
    /// - Returns: a placeholder for the answer.
    func answer(_ body: @escaping @Sendable () async throws -> Response) -> Response {
        rest.withLock { $0 = body }
        return Response(status: .ok)
    }

    /// Takes the deferred work; nil if nothing was deferred.
    func take() -> (@Sendable () async throws -> Response)? {
        rest.withLock { $0.take() }
    }
}
