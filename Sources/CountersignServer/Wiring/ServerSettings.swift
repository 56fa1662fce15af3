public import CountersignWire

/// What an operator decides about a server.
public struct ServerSettings: Sendable {
    /// The folder that holds everything.
    public var dataFolder: String
    /// The address to listen on.
    public var host: String
    /// The port to listen on; 0 for a free one.
    public var port: Int
    /// The deployment's public base URL; nil for the address and port it listens on.
    public var issuer: Issuer?
    /// Whether callbacks may go to addresses that only the server's own network can reach.
    public var allowsPrivateCallbacks = false

    /// Settings that run on this machine alone.
    public init(dataFolder: String, host: String = "127.0.0.1", port: Int = 8080, issuer: Issuer? = nil) {
        self.dataFolder = dataFolder
        self.host = host
        self.port = port
        self.issuer = issuer
    }

    /// Whether the listener can be reached from this machine alone.
    var listensOnLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
}
