import BenchmarkSupport

extension MeasuredProcess {
    /// How long nothing must happen for a server to be idle.
    private static let pause = Duration.milliseconds(500)

    /// Returns when the server has used no processor time for a while: whatever was sent to it is done.
    func idle() async throws {
        var last = -1.0
        var now = processorTime
        while now > last + 0.02 {
            last = now
            // Nothing tells from outside that a server is at rest; it is looked at.
            try await Task.sleep(for: Self.pause)
            now = processorTime
        }
    }
}
