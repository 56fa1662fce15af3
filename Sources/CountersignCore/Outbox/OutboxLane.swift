package import CountersignWire

/// Where messages of one kind queue that share a fate: those of a client and, of callbacks, those to one host.
package struct OutboxLane: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// Host and port; nil for what goes to no server of the client's.
    package let host: String?

    /// A lane of these parts.
    package init(client: ClientID, host: String?) {
        self.client = client
        self.host = host
    }
}

/// A lane in which something is due.
package struct DueLane: Sendable {
    /// The most that is counted.
    package static let maximumCount = 256

    /// The lane.
    package let lane: OutboxLane
    /// Since when.
    package let since: Timestamp
    /// How many messages, ``maximumCount`` at most.
    package let count: Int

    /// A lane in which so many are due.
    package init(lane: OutboxLane, since: Timestamp, count: Int) {
        self.lane = lane
        self.since = since
        self.count = count
    }
}

/// How many messages of a lane are taken.
package struct LaneShare: Hashable, Sendable {
    /// The lane.
    package let lane: OutboxLane
    /// How many.
    package var count: Int
}

/// What is on its way, and how much more may be: no client's receiver, however it hangs, leaves no place to another's.
package struct OutboxLoad: Sendable {
    /// How much may be on its way at once.
    package struct Limits: Sendable {
        /// In all.
        package let total: Int
        /// Of one client, and to one host.
        package let each: Int
        /// In a lane whose receiver took too long.
        package let slow: Int
        /// Whether no client may have more on its way than there is left for others.
        package let leavesHalf: Bool

        /// Limits of these parts.
        package init(total: Int, each: Int, slow: Int, leavesHalf: Bool) {
            self.total = total
            self.each = each
            self.slow = slow
            self.leavesHalf = leavesHalf
        }
    }

    /// How many lanes that were slow are remembered.
    private static let maximumSlow = 10_000

    private let limits: Limits
    private var total = 0
    private var byLane: [OutboxLane: Int] = [:]
    private var byClient: [ClientID: Int] = [:]
    private var byHost: [String: Int] = [:]
    private var slow: Set<OutboxLane> = []

    /// Nothing is on its way.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// A message is on its way.
    package mutating func begin(_ lane: OutboxLane) { add(1, to: lane) }

    /// A message is not on its way any more.
    package mutating func end(_ lane: OutboxLane, tookTooLong: Bool) {
        add(-1, to: lane)
        if tookTooLong, slow.count < Self.maximumSlow { slow.insert(lane) }
        if !tookTooLong { slow.remove(lane) }
    }

    private mutating func add(_ number: Int, to lane: OutboxLane) {
        func sum(_ count: Int?) -> Int? {
            let sum = (count ?? 0) + number
            return sum == 0 ? nil : sum
        }
        total += number
        byLane[lane] = sum(byLane[lane])
        byClient[lane.client] = sum(byClient[lane.client])
        if let host = lane.host { byHost[host] = sum(byHost[host]) }
    }

    /// How many of each lane are taken now: one of each in turn, those first in which something has been due longest,
    /// until there is no place.
    package func shares(of due: [DueLane]) -> [LaneShare] {
        var load = self
        var waiting = due.sorted { $0.since < $1.since }.filter { isWorthwhile($0) }
        var shares: [OutboxLane: Int] = [:]
        while !waiting.isEmpty {
            waiting = waiting.filter { next in
                guard shares[next.lane, default: 0] < next.count, load.hasPlace(in: next.lane) else { return false }
                shares[next.lane, default: 0] += 1
                load.begin(next.lane)
                return true
            }
        }
        return due.compactMap { due in shares[due.lane].map { LaneShare(lane: due.lane, count: $0) } }
    }

    /// Whether so much of a lane has ended that it is worth a commit to take more.
    private func isWorthwhile(_ due: DueLane) -> Bool {
        let underWay = byLane[due.lane, default: 0]
        return min(maximum(in: due.lane) - underWay, due.count) >= min(underWay / 4, due.count)
    }

    private func maximum(in lane: OutboxLane) -> Int { slow.contains(lane) ? limits.slow : limits.each }

    private func hasPlace(in lane: OutboxLane) -> Bool {
        let ofClient = byClient[lane.client, default: 0]
        return total < limits.total && byLane[lane, default: 0] < maximum(in: lane) && ofClient < limits.each
            && lane.host.map { byHost[$0, default: 0] < limits.each } ?? true
            && (!limits.leavesHalf || ofClient < limits.total - total)
    }
}
