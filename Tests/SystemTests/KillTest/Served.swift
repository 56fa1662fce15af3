import ServerTestSupport

/// What the portals and phones call: one server, or several behind one address.
protocol Served: Sendable {
    var url: String { get }
    /// Knows the secrets of the servers and searches their logs and replies.
    var watch: ServerWatch { get }
    /// Counts the requests that kills interrupted.
    var flights: Flights { get }
    /// Whether a reply may say that the server is unavailable, which is no fault while its database cannot be reached.
    var mayBeUnavailable: Bool { get }

    /// Returns when it makes sense to send a request.
    func ready() async throws
}
