import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport

/// A deployment with its users, phones, relying parties and receivers; one seed determines its clocks, network and
/// database.
///
/// It runs on one thread, that of its ``Scheduler``. Spec: docs/decisions/0065-simulated-world.md.
package final class SimulatedWorld: @unchecked Sendable {
    /// The members of a simulation, and how busy they are.
    package struct Population: Sendable {
        package var users = 6
        package var nodes = 3
        package var portals = 3
        /// About how many challenges each portal asks in an hour.
        package var asksPerHour = 40
        package var hasThief = true
        package var hasThirdParty = true
        package var hasCallCentres = true
        package var rates = FaultPlan.Rates()

        package init() {}

        /// An office on a quiet day.
        package static let quiet: Population = {
            var population = Population()
            (population.users, population.portals, population.asksPerHour) = (20, 1, 100)
            return population
        }()

        /// All portals ask at the same time.
        package static let storm: Population = {
            var population = Population()
            (population.users, population.portals, population.asksPerHour) = (20, 4, 5000)
            return population
        }()

        /// Smaller populations, in the order in which they are tried; empty if none is possible.
        package var smaller: [Population] {
            var smaller: [Population] = []
            if nodes > 1 { smaller.append(with { $0.nodes -= 1 }) }
            if users > 1 { smaller.append(with { $0.users = users / 2 }) }
            if portals > 1 { smaller.append(with { $0.portals -= 1 }) }
            if hasThief { smaller.append(with { $0.hasThief = false }) }
            if hasThirdParty { smaller.append(with { $0.hasThirdParty = false }) }
            if hasCallCentres { smaller.append(with { $0.hasCallCentres = false }) }
            return smaller
        }

        private func with(_ change: (inout Population) -> Void) -> Population {
            var other = self
            change(&other)
            return other
        }
    }

    /// A broken invariant.
    package struct Violation: Sendable, CustomStringConvertible {
        /// The number of the invariant, as in `InvariantTests`; 0 for liveness.
        package let invariant: Int
        package let text: String
        package let elapsed: Duration

        package var description: String {
            "\(invariant == 0 ? "liveness" : "invariant \(invariant)") after \(elapsed.milliseconds) ms: \(text)"
        }
    }

    /// The result of a run.
    package struct Report: Sendable {
        package let violation: Violation?
        /// The faults that happened.
        package let plan: FaultPlan
        package let traceHash: UInt64
        /// The latest entries of the trace.
        package let story: [String]
        package let counts: Ledger.Counts
        package let jobs: Int
        /// Whether a job ran on another thread; such a run cannot be repeated.
        package let hasEscaped: Bool
    }

    package static let masterKey = Array(repeating: UInt8(7), count: 32)
    /// How long the simulation continues without faults and new challenges before all work must be done.
    private static let calm = Duration.seconds(300)

    package let population: Population
    let scheduler: Scheduler
    let trace: Trace
    let faults: FaultSource
    let database: SimulatedDatabase
    let ledger: Ledger
    let plants: Plants
    let log = InfoLog()
    let issuer: Issuer
    let masterKey: MasterKey
    let templates: MessageTemplates
    let gateway: TextGateway
    private(set) lazy var receivers = Receivers(self)
    private(set) lazy var watch = Watch(self)
    private(set) var nodes: [Node] = []
    private(set) var users: [User] = []
    private(set) var portals: [Portal] = []
    /// The client of somebody else; nil for none.
    private(set) var thirdParty: Portal?
    /// The clients whose servers ask; none, or one for each way in which they get their tokens.
    private(set) var callCentres: [CallCentre] = []
    /// The clients besides the portals.
    var others: [Portal] { [thirdParty].compactMap(\.self) + callCentres.map(\.client) }
    private var chance: SeededGenerator
    private var violation: Violation?
    private var isStopped: () -> Bool = { false }
    private var isSettled = false
    /// Whether the parties begin nothing new.
    private(set) var isCalm = false

    /// The right time.
    var now: Timestamp {
        Timestamp(milliseconds: SimulatedTime.beginning.milliseconds + scheduler.elapsed.milliseconds)
    }

    private var isOver: Bool { violation != nil || isStopped() }

    /// The planted defect of the server; nil for none.
    var planted: PlantedFault? { plants.fault }

    /// Creates a simulation.
    ///
    /// - Parameters:
    ///   - seed: the seed, which determines everything.
    ///   - population: the members.
    ///   - plan: the faults; nil to draw them from the seed.
    ///   - fault: the planted defect.
    package init(
        seed: UInt64, population: Population = Population(), plan: FaultPlan? = nil, planted fault: PlantedFault? = nil
    ) throws {
        guard let issuer = Issuer("https://login.example.com"),
            let masterKey = MasterKey(bytes: Secret(Self.masterKey))
        else { preconditionFailure("the issuer and the master key are constants") }
        self.issuer = issuer
        self.masterKey = masterKey
        self.population = population
        templates = try MessageTemplates(sender: "Countersign", issuer: issuer)
        gateway = try TextGateway(
            url: "https://texts.example.com/", headers: [], format: .json,
            body: #"{"to":"{{to}}","from":"{{from}}","text":"{{text}}"}"#, from: "Countersign")
        scheduler = Scheduler(seed: seed)
        trace = Trace(scheduler)
        faults = plan.map { FaultSource($0) } ?? FaultSource(seed: seed, rates: population.rates)
        database = try SimulatedDatabase()
        chance = SeededGenerator(seed: seed, of: 1)
        ledger = Ledger()
        plants = Plants(fault, ledger, SeededGenerator(seed: seed, of: 2))
    }

    /// Runs the simulation for a time, then without faults until all work must be done, and checks the result.
    ///
    /// - Parameters:
    ///   - time: how long it runs with faults.
    ///   - isStopped: whether to stop early; the report then means nothing.
    ///   - spoil: changes the simulation before the last checks, for tests of the checks.
    package func run(
        for time: Duration, orUntil isStopped: @escaping () -> Bool = { false },
        thenSpoiled spoil: (SimulatedWorld) throws -> Void = { _ in }
    ) throws -> Report {
        self.isStopped = isStopped
        scheduler.start { [self] in
            do { try await settle() } catch { violate(0, "the world does not begin: \(error)") }
            isSettled = true
        }
        scheduler.run(until: .seconds(120)) { self.isSettled }
        let end = scheduler.elapsed + time
        if violation == nil { begin(until: end) }
        scheduler.run(until: end) { self.isOver }
        calmDown()
        if !isOver { try spoil(self) }
        if !isOver { try watch.end() }
        for node in nodes { node.stop() }
        scheduler.run(until: scheduler.elapsed + .seconds(60))
        return Report(
            violation: violation, plan: faults.happened, traceHash: trace.hash, story: trace.lines,
            counts: ledger.counts, jobs: scheduler.jobCount,
            hasEscaped: scheduler.hasEscaped)
    }

    /// Creates the nodes, the types, the portals and their users.
    private func settle() async throws {
        faults.isOn = false
        nodes = (1...population.nodes).map { Node($0, in: self) }
        nodes[0].start()
        while nodes[0].services == nil { try await pause(.milliseconds(10)) }
        try watch.install()
        guard let services = nodes[0].services else { return }
        for number in 1...population.portals {
            portals.append(try await Portal(number, in: self, services))
        }
        try await Portal.setTypes(for: portals, services.ports)
        try await Portal.openDoors(of: portals, services.ports)
        if population.hasThirdParty { thirdParty = try await Portal.openThirdParty(in: self, services) }
        if population.hasCallCentres { callCentres = try await CallCentre.openAll(in: self, services) }
        if !others.isEmpty { try await Portal.openAccount(in: self, services) }
        try await services.store.refreshKeys()
        for number in 1...population.users {
            users.append(try await User(number, in: self, services))
        }
        for node in nodes.dropFirst() { node.start() }
        faults.isOn = true
    }

    private func begin(until end: Duration) {
        for portal in portals { portal.begin() }
        for user in users { user.begin() }
        for centre in callCentres { centre.begin() }
        let staff = Operator(self)
        scheduler.start { await staff.work() }
        let auditor = Auditor(self)
        ledger.auditor = auditor
        scheduler.start { await auditor.read() }
        if population.hasThief {
            let thief = Thief(self)
            scheduler.start { await thief.steal() }
        }
        scheduler.start { [self] in
            while scheduler.elapsed < end, !isCalm {
                try? await pause(.seconds(draw(20...100)))
                happen()
            }
        }
    }

    /// Lets a fault of a moment happen, if one is due.
    private func happen() {
        let node = nodes[draw(0...nodes.count - 1)]
        switch faults.next(.moment) {
        case .crash: node.die("by itself")
        case .partition: node.partition(for: .seconds(draw(1...100)))
        case .clockBack: step(node, by: -300_000)
        case .clockAhead: step(node, by: 3_600_000)
        default: break
        }
    }

    private func step(_ node: Node, by milliseconds: Int64) {
        trace.note(node.name, "has its clock set by \(milliseconds / 1000) s")
        ledger.clockSteps += 1
        node.time.step(milliseconds: milliseconds)
        scheduler.at(scheduler.elapsed + .seconds(draw(5...60))) { [trace] in
            node.time.step(milliseconds: -milliseconds)
            trace.note(node.name, "has the right time again")
        }
    }

    private func calmDown() {
        guard !isOver else { return }
        isCalm = true
        faults.isOn = false
        receivers.recover()
        scheduler.run(until: scheduler.elapsed + Self.calm) { self.isOver }
        // Failed work is retried within an hour and a quarter, so all machines sleep that long. A node whose clock was an
        // hour ahead has written the time of the next try by that clock.
        scheduler.sleep(for: .seconds(ledger.clockSteps == 0 ? 4600 : 8200))
        scheduler.run(until: scheduler.elapsed + .seconds(60)) { self.isOver }
    }

    /// Records the first broken invariant, which ends the simulation.
    func violate(_ invariant: Int, _ text: String) {
        guard violation == nil else { return }
        violation = Violation(invariant: invariant, text: text, elapsed: scheduler.elapsed)
        trace.note("invariant \(invariant)", text)
    }

    // What parties were told

    /// Records that a party was told the state of a challenge.
    func tell(_ who: String, of id: ChallengeID, _ told: Ledger.Told) { blame(ledger.tell(who, of: id, told)) }

    /// Reports the violation that the ledger has found, if any.
    func blame(_ fault: (Int, String)?) {
        if let fault { violate(fault.0, fault.1) }
    }

    // Chance

    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }

    func happens(percent: Int) -> Bool { chance.happens(percent: percent) }

    func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(draw(range)) }

    /// The delay of a message: usually some milliseconds, sometimes a second.
    func latency() -> Duration {
        var longest = 20
        while longest < 2000, happens(percent: 25) { longest *= 3 }
        return milliseconds(1...longest)
    }

    func seed() -> UInt64 { chance.next() }

    func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &chance) }

    func pause(_ time: Duration) async throws { try await scheduler.wait(until: scheduler.elapsed + time) }

    /// The node for the next call; a load balancer chooses none that is down.
    func someNode() -> Node { pick(nodes.filter { $0.services != nil }) ?? nodes[0] }
}
