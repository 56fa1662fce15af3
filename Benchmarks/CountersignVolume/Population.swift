import BenchmarkSupport
import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import TestSupport

/// A database with users, devices and ended challenges: real ones, and copies of them.
struct Population {
    /// The number of users created by real operations, and of answered challenges for each.
    static let users = 200
    private static let challengesEach = 5

    private let world: World
    private let client: Client
    private let devices: [(user: UserID, device: TestDevice)]
    private let engine = Engine.chosen
    /// The times in the ids of the copies.
    private var times: [Timestamp] = []
    private var random = SeededGenerator(seed: 1)

    /// Creates the users, 3 devices for every 2 of them, and 5 ended challenges for each.
    init() async throws {
        world = try await World()
        try await world.makeType()
        client = try await world.makeClient(waives: true).client
        var devices: [(UserID, TestDevice)] = []
        for number in 0..<Self.users {
            let user = try await world.makeUser("customer-\(number)", of: client)
            devices.append((user, try await world.makeDevice(of: user, by: client)))
            if number % 2 == 0 { _ = try await world.makeDevice(of: user, by: client) }
        }
        self.devices = devices
        for _ in 0..<Self.challengesEach {
            for (user, device) in devices { try await cycle(user, device) }
        }
        // The challenges asked so far no longer count towards any limit.
        world.time.advance(seconds: 86400)
    }

    /// Copies every row under other ids, until there are this many users.
    ///
    /// - Parameters:
    ///   - total: the number of users.
    ///   - progress: is called from time to time with the current number.
    mutating func copy(to total: Int, progress: (Int) -> Void) async throws {
        for name in Copies.tables.map(\.name) {
            try await world.sql("CREATE TABLE model_\(name) AS SELECT * FROM \(name)")
        }
        let columns = try await world.columns()
        let statements = Copies.tables.map { SQLStatement($0.copy(columns[$0.name] ?? [], on: engine)) }
        let copies = total / Self.users - 1
        // Older than the model rows, so that later rows are at the end of each index, as in a real deployment.
        let first = world.time.now.adding(seconds: -90 * 86400)
        for number in 0..<copies {
            let time = first.adding(seconds: Int64(number))
            let mark = Copies.mark(of: time)
            try await world.engine.write { connection in
                for statement in statements { try connection.execute(statement, [.text(mark)]) }
                return ((), changes: [])
            }
            times.append(time)
            if (number + 1) % max(copies / 10, 1) == 0 { progress((number + 2) * Self.users) }
        }
        for table in Copies.tables { try await world.sql("DROP TABLE model_\(table.name)") }
        switch engine {
        case .sqlite: break
        case .postgresql: try world.postgres?.command("VACUUM (ANALYZE)")
        }
    }

    /// The number of rows, as text.
    func counts() async throws -> String {
        var counts: [String] = []
        for table in ["users", "enrollments", "challenges", "receipts"] {
            counts.append("\(try await world.count(table)) \(table)")
        }
        return counts.joined(separator: ", ")
    }

    /// Runs cycles for random users, and returns their cost.
    mutating func cost(of cycles: Int) async throws -> Cost {
        let chosen = try (0..<cycles).map { _ in try someone() }
        let (processor, begin) = (Cost.processorTime(), ContinuousClock.now)
        for (user, device) in chosen { try await cycle(user, device) }
        return Cost(
            cycles: cycles, processor: Cost.processorTime() - processor,
            elapsed: (ContinuousClock.now - begin).inSeconds)
    }

    /// A random user; each copy is as likely as any other.
    private mutating func someone() throws -> (UserID, TestDevice) {
        guard let (user, device) = devices.randomElement(using: &random) else { throw World.Broken("no users") }
        guard let time = times.randomElement(using: &random) else { return (user, device) }
        let copy = try Copies.id(user, at: time)
        return (copy, device.copied(to: try Copies.id(device.enrollment, at: time), of: copy))
    }

    /// One cycle: a portal asks, the phone lists what is pending and approves, and the portal reads the outcome.
    private func cycle(_ user: UserID, _ device: TestDevice) async throws {
        world.time.advance(seconds: 1)
        let asked = try await world.ask(try world.request(for: user), by: client)
        let id = asked.challenge.id
        let pending = try await PendingChallenges.list(
            for: try await device.call(), ports: world.ports)
        guard case .list(let list, _) = pending, list.count == 1 else { throw World.Broken("pending: \(pending)") }
        let answer = try await device.answer(asked, .approved(.confirm, number: asked.number))
        guard case .decided = answer else { throw World.Broken("answer: \(answer)") }
        let told = try await WatchChallenge.shown(id, to: client, ports: world.ports)
        guard case .ended(.approved, _)? = told?.challenge.state else { throw World.Broken("told: \(told as Any)") }
    }
}
