import Synchronization

/// Counts the open connections of each network, and limits them.
final class ConnectionCounts: Sendable {
    private struct State {
        var open = 0
        var refused = 0
        var byNetwork: [[UInt8]: Int] = [:]
    }

    private let limit: Int
    private let proxies: TrustedProxies
    private let state = Mutex(State())

    /// Creates counts that begin at zero.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of connections from one network.
    ///   - proxies: the trusted proxies; they forward for many callers, so they have no limit.
    init(limit: Int, proxies: TrustedProxies) {
        self.limit = limit
        self.proxies = proxies
    }

    /// The number of open connections, and of those that were refused since the start.
    var current: (open: Int, refused: Int) { state.withLock { ($0.open, $0.refused) } }

    /// Counts a connection, unless its network already has the maximum number.
    ///
    /// - Parameter address: the peer's address; nil if it is not an IP address.
    /// - Returns: whether it was counted; call ``leave(_:)`` when it ends.
    func enter(_ address: IPAddress?) -> Bool {
        state.withLock { state in
            if let network = limited(address) {
                guard state.byNetwork[network, default: 0] < limit else {
                    state.refused += 1
                    return false
                }
                state.byNetwork[network, default: 0] += 1
            }
            state.open += 1
            return true
        }
    }

    /// Stops counting a connection.
    func leave(_ address: IPAddress?) {
        state.withLock { state in
            state.open -= 1
            guard let network = limited(address) else { return }
            let rest = state.byNetwork[network, default: 1] - 1
            state.byNetwork[network] = rest == 0 ? nil : rest
        }
    }

    /// The network to count for an address; nil for an address without a limit.
    private func limited(_ address: IPAddress?) -> [UInt8]? {
        guard let address, !address.isLoopback, !proxies.trusts(address) else { return nil }
        return address.network
    }
}
