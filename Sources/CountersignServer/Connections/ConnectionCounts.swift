import Synchronization

/// The connections that are open, by where they come from.
final class ConnectionCounts: Sendable {
    private struct State {
        var open = 0
        var refused = 0
        var byNetwork: [[UInt8]: Int] = [:]
    }

    private let limit: Int
    private let proxies: TrustedProxies
    private let state = Mutex(State())

    /// Counts by these rules.
    ///
    /// - Parameters:
    ///   - limit: how many one address may have.
    ///   - proxies: who speaks for many, and has no limit.
    init(limit: Int, proxies: TrustedProxies) {
        self.limit = limit
        self.proxies = proxies
    }

    /// How many are open, and how many were refused since the start.
    var current: (open: Int, refused: Int) { state.withLock { ($0.open, $0.refused) } }

    /// Counts a connection, unless its address has as many as it may.
    ///
    /// - Parameter address: the other end; nil when it is no network's.
    /// - Returns: whether it was counted; then ``leave(_:)`` follows when it ends.
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

    /// Counts a connection no more.
    func leave(_ address: IPAddress?) {
        state.withLock { state in
            state.open -= 1
            guard let network = limited(address) else { return }
            let rest = state.byNetwork[network, default: 1] - 1
            state.byNetwork[network] = rest == 0 ? nil : rest
        }
    }

    /// What is counted for an address; nil for one without a limit.
    private func limited(_ address: IPAddress?) -> [UInt8]? {
        guard let address, !address.isLoopback, !proxies.trusts(address) else { return nil }
        return address.network
    }
}
