/// How long to wait before something is tried again: a quarter of a second, then twice as long each time, up to half a
/// minute.
struct Backoff {
    private static let (first, longest) = (Duration.milliseconds(250), Duration.seconds(30))
    /// A connection that stood so long was not refused.
    private static let held = Duration.milliseconds(500)

    /// How often in a row it has failed.
    private(set) var failures: Int

    /// After so many failures in a row.
    init(failures: Int = 0) {
        self.failures = failures
    }

    /// How long to wait now.
    var pause: Duration {
        failures == 0 ? .zero : min(Self.first * (1 << min(failures - 1, 7)), Self.longest)
    }

    /// Notes that it has failed.
    ///
    /// A wait that was cut off had reached a server, which was holding it: a proxy that ends quiet requests, or a restart,
    /// is no reason to ask less and less often.
    ///
    /// - Parameter time: for how long the connection stood that was cut off; zero where there was a reply.
    mutating func fail(after time: Duration) {
        failures = time >= Self.held ? 1 : failures + 1
    }
}
