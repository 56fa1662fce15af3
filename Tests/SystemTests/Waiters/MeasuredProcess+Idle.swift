import BenchmarkSupport

extension MeasuredProcess {
    /// How long a server must use no processor time to count as idle.
    private static let pause = Duration.milliseconds(500)

    /// Returns when the server has used no processor time for a while, so that all requests are done.
    func idle() async throws {
        var last = -1.0
        var now = processorTime
        while now > last + 0.02 {
            last = now
            // A server does not report that it is idle, so this is polled.
            try await Task.sleep(for: Self.pause)
            now = processorTime
        }
    }
}
