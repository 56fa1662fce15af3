import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The nonces of devices' reads, in memory")
struct ReadNoncesTests {
    private static let start = Timestamp(seconds: 1_800_000_000)

    private static func read(_ nonce: String, of device: String = "a") -> ReplayGuard {
        ReplayGuard(nonce, of: device, until: start)
    }

    @Test("A nonce is spent once by each device, for at least as long as its proof is accepted, and then forgotten")
    func once() {
        let nonces = ReadNonces()
        #expect(nonces.spend(Self.read("1"), at: Self.start) == .spent)
        #expect(nonces.spend(Self.read("2"), at: Self.start.adding(seconds: 100)) == .spent)
        #expect(nonces.spend(Self.read("1", of: "b"), at: Self.start) == .spent)
        let replays: [(String, Int64)] = [("1", 0), ("1", 180), ("1", 181), ("2", 281), ("1", 361), ("2", 361)]
        for (nonce, seconds) in replays {
            #expect(nonces.spend(Self.read(nonce), at: Self.start.adding(seconds: seconds)) == .replayed, "\(seconds)")
        }
        #expect(nonces.spend(Self.read("1"), at: Self.start.adding(seconds: 362)) == .spent)
        // A clock that is set back forgets nothing.
        #expect(nonces.spend(Self.read("1"), at: Self.start) == .replayed)
    }

    @Test("One device spends a limited number, and all of them a limited number of bytes; both end with time")
    func limits() {
        let nonces = ReadNonces(most: 3, capacity: 5 * 65)
        for number in 1...3 { #expect(nonces.spend(Self.read("\(number)"), at: Self.start) == .spent) }
        #expect(nonces.spend(Self.read("4"), at: Self.start) == .tooMany)
        for number in 1...2 { #expect(nonces.spend(Self.read("\(number)", of: "b"), at: Self.start) == .spent) }
        #expect(nonces.spend(Self.read("3", of: "b"), at: Self.start) == .full)
        #expect(nonces.spend(Self.read("1", of: "b"), at: Self.start) == .replayed, "known, though all is full")
        let later = Self.start.adding(seconds: 362)
        #expect(nonces.spend(Self.read("4"), at: later.adding(seconds: -181)) == .tooMany)
        #expect(nonces.spend(Self.read("4"), at: later) == .spent)
    }

    @Test("A replayed read is refused by the node that has seen it; at another one it changes nothing")
    func anotherNode() async throws {
        let world = try await World()
        let client = try await world.makeClient(waives: true).client
        let device = try await world.makeDevice(of: try await world.makeUser(of: client), by: client)
        let call = try await device.call()
        func shows(_ ports: Ports) async throws -> Bool {
            if case .methods = try await ShowMethods.show(to: call, ports: ports) { true } else { false }
        }
        #expect(try await shows(world.ports))
        #expect(try await ShowMethods.show(to: call, ports: world.ports) == .refused(.nonceReplayed))
        let other = world.ports(loggingTo: world.ports.logger)
        let nonces = try await world.count("nonces")
        let events = try await world.audit().count
        #expect(try await shows(other))
        #expect(try await ShowOwnEnrollment.show(to: call, ports: other) == .refused(.nonceReplayed))
        #expect(try await world.count("nonces") == nonces)
        #expect(try await world.audit().count == events)
        // A change is refused everywhere.
        let change = try await device.call()
        let update = EnrollmentUpdate(push: .removed)
        _ = try await UpdateEnrollment.update(update, by: change, ports: world.ports)
        #expect(try await UpdateEnrollment.update(update, by: change, ports: other) == .refused(.nonceReplayed))
    }

    @Test("A read is refused once the device is suspended or removed, by every node, at the next call")
    func removed() async throws {
        let world = try await World()
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: client)
        let device = try await world.makeDevice(of: user, by: client)
        let other = world.ports(loggingTo: world.ports.logger)
        let calls = try await [device.call(), device.call()]
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: client.caller, ports: world.ports)
                == .removed)
        for (call, ports) in zip(calls, [world.ports, other]) {
            guard case .refused(.deregistered) = try await PendingChallenges.list(for: call, ports: ports) else {
                Issue.record("a removed device was shown a list")
                continue
            }
        }
    }
}
