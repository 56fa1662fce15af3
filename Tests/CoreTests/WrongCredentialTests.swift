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

    @Test("However many are named, a node's memory and what it writes are bounded, and the limit holds")
    func manyClients() async throws {
        let world = try await World(.sqlite)
        let counter = WrongCredentials()
        for batch in 0..<100 {
            let count = WrongCredentials.maximumKeys / 100
            let waits = try await atOnce(count) { number in
                try await counter.count(client: "\(batch * count + number)", address: nil, ports: world.ports)
            }
            #expect(waits == Array(repeating: .counted, count: count))
        }
        // Those beyond are counted as one.
        var beyond: [WrongCredentials.Outcome] = []
        for number in 0..<30 {
            beyond.append(try await counter.count(client: "beyond \(number)", address: nil, ports: world.ports))
        }
        #expect(
            beyond == Array(repeating: .counted, count: 20) + Array(repeating: .tooMany(retryAfter: 60), count: 10))
        #expect(try await counter.count(client: "1", address: nil, ports: world.ports) == .counted)
        #expect(try await world.count("attempts") == Int64(WrongCredentials.maximumKeys) + 1)
        // A minute later there is room again.
        world.time.advance(seconds: 60)
        #expect(try await counter.count(client: "beyond 1", address: nil, ports: world.ports) == .counted)
    }
}
