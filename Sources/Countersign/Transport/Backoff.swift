/// The pauses between attempts: a quarter of a second first, then twice as long each time, up to half a minute.
struct Backoff {
    private static let (first, longest) = (Duration.milliseconds(250), Duration.seconds(30))
    /// A connection that lasted this long was not refused.
    private static let held = Duration.milliseconds(500)

    /// How many attempts in a row have failed.
    private(set) var failures: Int

    /// Begins after a number of failures in a row.
    init(failures: Int = 0) {
        self.failures = failures
    }

    /// How long to wait before the next attempt.
    var pause: Duration {
        failures == 0 ? .zero : min(Self.first * (1 << min(failures - 1, 7)), Self.longest)
    }

    /// Records a failure.
    ///
    /// A long poll that was cut off had reached a server, which was holding it. A proxy that ends quiet requests, or a
    /// restart of the server, is no reason for longer and longer pauses.
    ///
    /// - Parameter time: how long the connection lasted that was cut off; zero if there was a reply.
    mutating func fail(after time: Duration) {
        failures = time >= Self.held ? 1 : failures + 1
    }
}
