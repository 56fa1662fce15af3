import CountersignWire
import Testing

@testable import CountersignCore

@Suite("What may be on its way at once")
struct OutboxLoadTests {
    private static let limits = OutboxLoad.Limits(total: 256, each: 64, slow: 4, leavesHalf: true)

    private static func client(_ number: Int) -> ClientID {
        ClientID(at: Timestamp(milliseconds: 1), random: [UInt8](repeating: UInt8(number), count: 10))
    }

    private static func due(_ client: Int, _ host: String?, _ count: Int = 256, since: Int64 = 0) -> DueLane {
        DueLane(
            lane: OutboxLane(client: Self.client(client), host: host), since: Timestamp(milliseconds: since),
            count: count)
    }

    /// Takes what is given, and tells how many of each.
    private static func take(_ due: [DueLane], from load: inout OutboxLoad) -> [Int] {
        let shares = load.shares(of: due)
        for share in shares { for _ in 0..<share.count { load.begin(share.lane) } }
        return due.map { lane in shares.first { $0.lane == lane.lane }?.count ?? 0 }
    }

    @Test("However many clients hang, the next one still gets a place")
    func halves() {
        var load = OutboxLoad(Self.limits)
        var taken: [Int] = []
        for number in 0..<8 { taken += Self.take([Self.due(number, "host\(number):443")], from: &load) }
        #expect(taken == [64, 64, 64, 32, 16, 8, 4, 2])
    }

    @Test("One client has no more than its part, by however many hosts; one host no more, for however many clients")
    func clientAndHost() {
        var load = OutboxLoad(Self.limits)
        #expect(Self.take([Self.due(1, "a:443"), Self.due(1, "b:443")], from: &load) == [32, 32])
        #expect(Self.take([Self.due(1, "c:443")], from: &load) == [0])
        load = OutboxLoad(Self.limits)
        #expect(Self.take([Self.due(1, "a:443", 40), Self.due(2, "a:443", 40)], from: &load) == [32, 32])
        #expect(Self.take([Self.due(3, "a:443"), Self.due(3, "b:443", 1)], from: &load) == [0, 1])
    }

    @Test("Each in turn, those first that have waited longest")
    func turns() {
        var load = OutboxLoad(.init(total: 4, each: 4, slow: 4, leavesHalf: false))
        let due = [
            Self.due(1, nil, 9, since: 3), Self.due(2, nil, 1, since: 2), Self.due(3, nil, 9, since: 1),
        ]
        #expect(Self.take(due, from: &load) == [1, 1, 2])
        load = OutboxLoad(.init(total: 2, each: 4, slow: 4, leavesHalf: false))
        #expect(Self.take(due, from: &load) == [0, 1, 1])
    }

    @Test("A lane that took too long gets few, until it answers again")
    func slow() {
        var load = OutboxLoad(Self.limits)
        let due = [Self.due(1, "a:443")]
        #expect(Self.take(due, from: &load) == [64])
        for _ in 0..<64 { load.end(due[0].lane, tookTooLong: true) }
        #expect(Self.take(due, from: &load) == [4])
        #expect(Self.take([Self.due(1, "b:443")], from: &load) == [60])
        load.end(due[0].lane, tookTooLong: false)
        for _ in 0..<60 { load.end(Self.due(1, "b:443").lane, tookTooLong: false) }
        #expect(Self.take(due, from: &load) == [61])
    }

    @Test("A busy lane is filled up in batches, not one by one")
    func batches() {
        var load = OutboxLoad(Self.limits)
        let due = [Self.due(1, "a:443")]
        #expect(Self.take(due, from: &load) == [64])
        for _ in 0..<5 { load.end(due[0].lane, tookTooLong: false) }
        #expect(Self.take(due, from: &load) == [0])
        for _ in 0..<10 { load.end(due[0].lane, tookTooLong: false) }
        #expect(Self.take(due, from: &load) == [15])
        // But the last one that waits is not kept waiting.
        load.end(due[0].lane, tookTooLong: false)
        #expect(Self.take([Self.due(1, "a:443", 1)], from: &load) == [1])
    }
}
