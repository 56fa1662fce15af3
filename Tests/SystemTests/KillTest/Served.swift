import ServerTestSupport

/// What the portals and phones of a scene talk to: one server, or several behind one address.
protocol Served: Sendable {
    /// Where it is reached.
    var url: String { get }
    /// Knows its secrets and reads all it says.
    var watch: ServerWatch { get }
    /// Whose requests the kills cut off.
    var flights: Flights { get }
    /// Whether it may say that it cannot answer now, which is no fault while its database is away.
    var mayBeUnavailable: Bool { get }

    /// Returns when requests are worth a try.
    func ready() async throws
}
