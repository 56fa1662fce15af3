import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("RFC 6749 §2.3.1, OWASP ASVS 6.3.1: wrong credentials are counted for all nodes together")
struct WrongCredentialTests {
    @Test("Two nodes on one database together let as many pass as one would, and so does one that started since")
    func nodes() async throws {
        let world = try await World()
        let other = try await world.reopened()
        let nodes = [(WrongCredentials(), world.ports), (WrongCredentials(), other.ports)]
        for number in 0..<AttemptLimit.wrongCredentials(of: "").maximum {
            let (counter, ports) = nodes[number % 2]
            #expect(try await counter.count(client: "a", address: nil, ports: ports) == .counted)
        }
        world.time.advance(seconds: 1)
        for (counter, ports) in nodes + [(WrongCredentials(), world.ports)] {
            #expect(try await counter.count(client: "a", address: nil, ports: ports) == .tooMany(retryAfter: 59))
            #expect(try await counter.count(client: "b", address: nil, ports: ports) == .counted)
        }
        for number in 0..<AttemptLimit.wrongCredentialsFrom([]).maximum {
            let (counter, ports) = nodes[number % 2]
            #expect(try await counter.count(client: nil, address: [192, 0, 2, 1], ports: ports) == .counted)
        }
        for (counter, ports) in nodes {
            #expect(
                try await counter.count(client: "c", address: [192, 0, 2, 1], ports: ports) == .tooMany(retryAfter: 60))
            #expect(try await counter.count(client: "c", address: [192, 0, 2, 2], ports: ports) == .counted)
        }
    }

    @Test("What is beyond the limit costs no transaction")
    func bounded() async throws {
        let world = try await World()
        let counter = WrongCredentials()
        for _ in 0..<30 { _ = try await counter.count(client: "a", address: [1], ports: world.ports) }
        #expect(try await world.sql("SELECT max(count) FROM attempts").first?.integer(0) == 20)
        #expect(try await world.count("attempts") == 2)
        // What was counted is swept when it counts no more, whatever server's clock is an hour ahead.
        world.time.advance(seconds: 3661)
        #expect(try await world.store.commit { try $0.retention.sweep(now: world.time.now, limit: 10) } == 2)
    }

    @Test("Each client and each network is counted for itself, in windows of a minute")
    func windows() async throws {
        let world = try await World()
        let counter = WrongCredentials()
        func note(_ client: String?, _ address: [UInt8]? = nil) async throws -> WrongCredentials.Outcome {
            try await counter.count(client: client, address: address, ports: world.ports)
        }
        let start = world.time.now
        for _ in 0..<20 {
            #expect(try await note("a") == .counted)
            world.time.advance(seconds: 1)
        }
        #expect(try await note("a") == .tooMany(retryAfter: 40))
        #expect(try await note("b") == .counted)
        #expect(try await note(nil, [192, 0, 2, 1]) == .counted)
        #expect(try await note(nil) == .counted)
        world.time.set(Timestamp(milliseconds: start.milliseconds + 59_999))
        #expect(try await note("a") == .tooMany(retryAfter: 1))
        world.time.set(start.adding(seconds: 60))
        #expect(try await note("a") == .counted)
        // A clock that is set back ends the window, instead of making it last for as long as it was set back.
        world.time.set(start)
        for _ in 0..<30 { _ = try await note("a") }
        world.time.set(start.adding(seconds: -3600))
        #expect(try await note("a") == .counted)
    }

    @Test("However many are named, what two nodes keep and write is bounded, and the limits hold for all the others")
    func manyClients() async throws {
        let world = try await World(.sqlite)
        let other = try await world.reopened()
        let counters = [WrongCredentials(), WrongCredentials()]
        let nodes = [world.ports, other.ports]
        // Each node counts as many one by one as it can: clients and networks in equal parts.
        let size = WrongCredentials.maximumKeys / 200
        for node in 0..<2 {
            for batch in 0..<100 {
                let outcomes = try await atOnce(size) { place in
                    let number = batch * size + place
                    let network = [10, UInt8(number / 65_536), UInt8(number / 256 % 256), UInt8(number % 256)]
                    return try await counters[node].count(client: "\(number)", address: network, ports: nodes[node])
                }
                #expect(outcomes == Array(repeating: .counted, count: size))
            }
        }
        let known = Int64(WrongCredentials.maximumKeys)
        #expect(try await world.count("attempts") == known)
        // Those beyond are counted as one: another name is not another count, nor is another node, in turn or at once.
        let clients = try await atOnce(30) { number in
            try await counters[number % 2].count(client: "beyond \(number)", address: nil, ports: nodes[number % 2])
        }
        #expect(clients.count { $0 == .counted } == 20)
        #expect(clients.count { $0 == .tooMany(retryAfter: 60) } == 10)
        let networks = try await atOnce(130) { number in
            try await counters[number % 2].count(
                client: nil, address: [198, 51, 100, UInt8(number)], ports: nodes[number % 2])
        }
        #expect(networks.count { $0 == .counted } == 100)
        #expect(networks.count { $0 == .tooMany(retryAfter: 60) } == 30)
        #expect(try await world.count("attempts") == known + 2)
        for (counter, ports) in zip(counters, nodes) {
            for name in ["further", "beyond 0", "Beyond 0"] {
                #expect(try await counter.count(client: name, address: nil, ports: ports) == .tooMany(retryAfter: 60))
            }
            let another = try await counter.count(client: nil, address: [203, 0, 113, 1], ports: ports)
            #expect(another == .tooMany(retryAfter: 60))
            // Those that were there before are not concerned.
            #expect(try await counter.count(client: "1", address: [10, 0, 0, 1], ports: ports) == .counted)
        }
        // A minute later there is room again.
        world.time.advance(seconds: 60)
        for (counter, ports) in zip(counters, nodes) {
            let outcome = try await counter.count(client: "beyond 1", address: [198, 51, 100, 1], ports: ports)
            #expect(outcome == .counted)
        }
    }
}
