import CountersignCore
import CountersignStorage
import CountersignWire

/// A node's access to the simulated database, with the real statements, and with faults at the boundary.
final class SimulatedEngine: SQLEngine, @unchecked Sendable {
    let dialect = SQLDialect.sqlite
    var changes: any ChangeNotifier { hub }
    var commitCount: CommitCount { world.database.commits }

    private let world: SimulatedWorld
    private let hub: ChangeHub
    private unowned let node: Node
    private let life: Life

    init(_ world: SimulatedWorld, hub: ChangeHub, of node: Node, life: Life) {
        self.world = world
        self.hub = hub
        self.node = node
        self.life = life
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await reach()
        return try world.database.transaction(isKept: false, wrapped, body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result {
        try await reach()
        let database = world.database
        var fault = world.faults.next(.commit)
        if world.planted == .sentFromNowhere, world.faults.isOn, world.happens(percent: 5) { fault = .nothingWritten }
        switch fault {
        case .nothingWritten:
            world.trace.note(node.name, "a commit fails")
            _ = try database.transaction(isKept: false, wrapped, body)
            if world.planted == .sentFromNowhere { try world.plants.sendWhatWasTakenBack(database) }
            throw StoreError.unavailable
        case .writtenUnheard:
            world.trace.note(node.name, "a commit is not heard of")
            tell(try database.transaction(isKept: true, wrapped, body).changes)
            throw StoreError.unavailable
        case .runTwice:
            _ = try database.transaction(isKept: false, wrapped, body)
        case .diesBefore:
            node.die("before a commit")
            throw StoreError.unavailable
        case .diesAfter:
            tell(try database.transaction(isKept: world.planted != .replyBeforeCommit, wrapped, body).changes)
            if world.planted == .replyBeforeCommit {
                let result = try database.transaction(isKept: false, wrapped, body).0
                world.scheduler.at(world.scheduler.elapsed + .milliseconds(50)) { [node] in node.die("after a reply") }
                return result
            }
            node.die("after a commit")
            throw StoreError.unavailable
        default: break
        }
        let (result, topics) = try database.transaction(isKept: true, wrapped, body)
        tell(topics)
        try await pause()
        return result
    }

    func takesTurn(at work: String, for turn: Seconds) async throws -> Bool {
        try await reach()
        let now = world.scheduler.elapsed
        return world.database.takesTurn(at: work, node.number, until: now + .seconds(turn.value), now: now)
    }

    /// Notifies tasks in this node at once, and those in other nodes a moment later.
    private func tell(_ topics: [ChangeTopic]) {
        guard !topics.isEmpty, world.planted != .noticeLost else { return }
        hub.notify(topics)
        for other in world.nodes where other !== node {
            let delay = world.milliseconds(1...50)
            world.scheduler.at(world.scheduler.elapsed + delay) { other.hear(topics) }
        }
    }

    private func wrapped(_ connection: any SQLConnection) -> any SQLConnection {
        world.planted == nil ? connection : PlantedConnection(connection, world.plants)
    }

    private func reach() async throws {
        try await pause()
        guard !node.isPartitioned else {
            try await world.pause(.seconds(1))
            throw StoreError.unavailable
        }
    }

    private func pause() async throws {
        guard !life.isOver else { throw StoreError.unavailable }
        try await world.pause(world.milliseconds(0...3))
        guard !life.isOver else { throw StoreError.unavailable }
    }
}
