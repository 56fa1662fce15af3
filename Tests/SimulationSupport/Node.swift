import CountersignCore
import CountersignDelivery
import CountersignServer
import CountersignStorage
import CountersignWire
import Logging
import StorageTestSupport

/// One run of a node, from start to end; nothing that belongs to it does anything after its end.
final class Life: @unchecked Sendable {
    private(set) var isOver = false
    private var endings: [() -> Void] = []

    func onEnd(_ ending: @escaping () -> Void) {
        if isOver { ending() } else { endings.append(ending) }
    }

    func end() {
        isOver = true
        for ending in endings { ending() }
        endings = []
    }
}

/// A server of a simulation: operations, outbox worker, maintenance and refresh of keys, connected as in production but
/// without HTTP.
final class Node: @unchecked Sendable {
    /// What requests use.
    struct Services: Sendable {
        let node: Node
        let ports: Ports
        let hub: ChangeHub
        let store: SQLStore
        /// Names the run of the node.
        let run: String
    }

    let number: Int
    let time: SimulatedTime
    private let world: SimulatedWorld
    private(set) var services: Services?
    private(set) var life: Life?
    private var runs = 0
    private(set) var isPartitioned = false
    /// When the latest fault of this node ends.
    private(set) var disturbedAt = Duration.zero

    var name: String { "node \(number)" }

    init(_ number: Int, in world: SimulatedWorld) {
        self.number = number
        self.world = world
        time = SimulatedTime(
            world.scheduler, offset: Int64(world.draw(0...3000)) - 1500, drift: Int64(world.draw(0...100)) - 50)
    }

    /// Starts the node, and tries again after a while if that fails.
    func start() {
        let life = Life()
        self.life = life
        let task = world.scheduler.start { [self] in
            while !life.isOver {
                do {
                    try await run(life)
                } catch {
                    guard !life.isOver else { return }
                    world.trace.note(name, "stops: \(error)")
                    services = nil
                    try? await world.pause(.seconds(1))
                }
            }
        }
        life.onEnd { task.cancel() }
    }

    private func run(_ life: Life) async throws {
        let (world, scheduler) = (world, world.scheduler)
        let clock = SimulatedClock(scheduler)
        let hub = ChangeHub(time: time, clock: clock)
        let engine = SimulatedEngine(world, hub: hub, of: self, life: life)
        let random = SeededRandom(seed: world.seed())
        let masterKey = world.masterKey
        let store = try await Self.open(engine, masterKey, world.issuer) { scheduler.elapsed }
        _ = try await store.issuerKeys(at: time.now, random: random)
        try await store.refreshKeys()
        let ports = Ports(
            issuer: world.issuer, store: store, changes: hub, time: time, clock: clock, random: random,
            hasher: KeyedHasher(key: store.dataKey.derived(for: "keyed hashes")), keys: store.issuerKeySource,
            transports: Transports(mail: false, text: true), hooks: world.receivers, logger: world.log.logger)
        let receivers: Receivers = world.receivers
        let worker = OutboxWorker(
            queue: store, ports: ports,
            callbacks: CallbackSender { request in try await receivers.post(request, life) },
            pushes: PushSender(local: LocalPushSender { request in try await receivers.push(request, life) }),
            messages: MessageSender(
                templates: world.templates, mail: nil,
                text: .gateway(TextSender(world.gateway) { try await receivers.text($0, life) })))
        let maintenance = Maintenance(ports: ports, store: store, retention: Retention())
        let refresh = KeyRefresh(store: store, changes: hub, clock: clock, logger: world.log.logger) { masterKey }
        runs += 1
        services = Services(node: self, ports: ports, hub: hub, store: store, run: "run \(runs) of \(name)")
        world.trace.note(name, "serves")
        try await withThrowingTaskGroup { group in
            group.addTask { try await hub.run() }
            group.addTask { try await worker.run() }
            group.addTask { try await maintenance.run() }
            group.addTask { try await refresh.run() }
            try await group.waitForAll()
        }
    }

    private static func open(
        _ engine: some SQLEngine, _ masterKey: MasterKey, _ issuer: Issuer,
        elapsed: @escaping @Sendable () -> Duration
    ) async throws -> SQLStore {
        try await SQLStore(engine: engine, masterKey: masterKey, issuer: issuer, elapsed: elapsed)
    }

    /// Ends everything in the node between two jobs, and restarts it after a while.
    func die(_ why: String) {
        guard let life, !life.isOver else { return }
        world.trace.note(name, "dies \(why)")
        disturbedAt = world.scheduler.elapsed
        services = nil
        life.end()
        world.scheduler.at(world.scheduler.elapsed + world.milliseconds(100...30_000)) { [self] in start() }
    }

    /// Stops the node for good at the end of the simulation.
    func stop() {
        services = nil
        life?.end()
    }

    func hear(_ topics: [ChangeTopic]) {
        guard !isPartitioned else { return }
        services?.hub.notify(topics)
    }

    /// Cuts the node off from the database for a while; it then does not know which notifications it has missed.
    func partition(for time: Duration) {
        isPartitioned = true
        disturbedAt = world.scheduler.elapsed + time
        world.trace.note(name, "is cut off")
        world.scheduler.at(world.scheduler.elapsed + time) { [self] in
            isPartitioned = false
            services?.hub.notifyAll()
            world.trace.note(name, "is back")
        }
    }
}
