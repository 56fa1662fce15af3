import ServiceLifecycle

/// A task that runs beside the requests and is cancelled when the server stops.
package struct Background: Service {
    private let body: @Sendable () async throws -> Void

    /// A task that does this.
    package init(_ body: @escaping @Sendable () async throws -> Void) {
        self.body = body
    }

    /// Does it.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await body() }
        } catch is CancellationError {
            return
        }
    }
}
