package import CountersignWire

/// A queue within the messages of one kind: the messages of one client and, for callbacks, to one host.
///
/// Messages of a lane usually succeed or fail together.
package struct OutboxLane: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The host and port of the receiver; nil for messages that do not go to a client's own server.
    package let host: String?

    /// A lane of these parts.
    package init(client: ClientID, host: String?) {
        self.client = client
        self.host = host
    }
}

/// A lane with due messages.
package struct DueLane: Sendable {
    /// The largest number of messages that is counted.
    package static let maximumCount = 256

    /// The lane.
    package let lane: OutboxLane
    /// When the first of the messages became due.
    package let since: Timestamp
    /// The number of due messages, ``maximumCount`` at most.
    package let count: Int

    /// A lane with this many due messages.
    package init(lane: OutboxLane, since: Timestamp, count: Int) {
        self.lane = lane
        self.since = since
        self.count = count
    }
}

/// A number of messages to take from a lane.
package struct LaneShare: Hashable, Sendable {
    /// The lane.
    package let lane: OutboxLane
    /// The number of messages.
    package var count: Int
}

/// The deliveries in progress, and the limits for further ones.
///
/// The limits ensure that a receiver that hangs does not block the deliveries to other clients.
package struct OutboxLoad: Sendable {
    /// Limits for the deliveries that are in progress at the same time.
    package struct Limits: Sendable {
        /// The maximum number of all deliveries.
        package let total: Int
        /// The maximum number of one client, and of one host.
        package let each: Int
        /// The maximum number in a lane whose receiver took too long.
        package let slow: Int
        /// Whether a client's next delivery needs more free places than the client has deliveries in progress.
        package let leavesHalf: Bool

        /// Limits of these parts.
        package init(total: Int, each: Int, slow: Int, leavesHalf: Bool) {
            self.total = total
            self.each = each
            self.slow = slow
            self.leavesHalf = leavesHalf
        }
    }

    /// How many slow lanes are remembered.
    private static let maximumSlow = 10_000

    private let limits: Limits
    private var total = 0
    private var byLane: [OutboxLane: Int] = [:]
    private var byClient: [ClientID: Int] = [:]
    private var byHost: [String: Int] = [:]
    private var slow: Set<OutboxLane> = []

    /// Creates a load without deliveries in progress.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Adds a delivery that has begun.
    package mutating func begin(_ lane: OutboxLane) { add(1, to: lane) }

    /// Removes a delivery that has ended; a lane is slow from a delivery that took too long until one that did not.
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

    /// How many messages to take from each lane now.
    ///
    /// One message of each lane is taken in turn, until no place is left. Lanes whose messages have been due longest
    /// come first.
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

    /// Whether enough places of a lane are free that taking more messages is worth a commit.
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
