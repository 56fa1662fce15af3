import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport

/// A deployment with its users, their phones, relying parties and receivers, on a clock, a network and a database that
/// one seed decides.
///
/// One thread: everything of it runs on its ``Scheduler``. Spec: design 11.
package final class SimulatedWorld: @unchecked Sendable {
    /// Who is there, and how busy they are.
    package struct Population: Sendable {
        package var users = 6
        package var nodes = 3
        package var portals = 3
        /// How many questions each portal asks in an hour, about.
        package var asksPerHour = 40
        /// Whether a thief takes a phone.
        package var hasThief = true
        package var rates = FaultPlan.Rates()

        package init() {}

        /// An office on a quiet day.
        package static let quiet: Population = {
            var population = Population()
            (population.users, population.portals, population.asksPerHour) = (20, 1, 100)
            return population
        }()

        /// Everybody asks at once.
        package static let storm: Population = {
            var population = Population()
            (population.users, population.portals, population.asksPerHour) = (20, 4, 5000)
            return population
        }()

        /// With fewer of everything, in the order in which it is tried; nil where nothing can be left out.
        package var smaller: [Population] {
            var smaller: [Population] = []
            if nodes > 1 { smaller.append(with { $0.nodes -= 1 }) }
            if users > 1 { smaller.append(with { $0.users = users / 2 }) }
            if portals > 1 { smaller.append(with { $0.portals -= 1 }) }
            if hasThief { smaller.append(with { $0.hasThief = false }) }
            return smaller
        }

        private func with(_ change: (inout Population) -> Void) -> Population {
            var other = self
            change(&other)
            return other
        }
    }

    /// A promise that was broken.
    package struct Violation: Sendable, CustomStringConvertible {
        /// Which, by its number in design 11 §4; 0 for liveness.
        package let invariant: Int
        package let text: String
        package let elapsed: Duration

        package var description: String {
            "\(invariant == 0 ? "liveness" : "invariant \(invariant)") after \(elapsed.milliseconds) ms: \(text)"
        }
    }

    /// What came of a run.
    package struct Report: Sendable {
        package let violation: Violation?
        /// What went wrong on purpose.
        package let plan: FaultPlan
        package let traceHash: UInt64
        /// The latest of what happened, in words.
        package let story: [String]
        package let counts: Ledger.Counts
        package let jobs: Int
        /// Whether something ran on another thread.
        package let hasEscaped: Bool
    }

    package static let masterKey = Array(repeating: UInt8(7), count: 32)
    /// How long the world goes on without faults and questions, until nothing may be left to do.
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
    private var chance: SeededGenerator
    private var violation: Violation?
    private var isStopped: () -> Bool = { false }
    private var isSettled = false
    /// Whether nobody begins anything any more.
    private(set) var isCalm = false

    /// The right time.
    var now: Timestamp {
        Timestamp(milliseconds: SimulatedTime.beginning.milliseconds + scheduler.elapsed.milliseconds)
    }

    private var isOver: Bool { violation != nil || isStopped() }

    /// What is wrong with the server on purpose; nil for nothing.
    var planted: PlantedFault? { plants.fault }

    /// A world.
    ///
    /// - Parameters:
    ///   - seed: decides everything.
    ///   - population: who is there.
    ///   - plan: what goes wrong; drawn from the seed where it is nil.
    ///   - fault: what is wrong with the server on purpose.
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

    /// Lets it be for so long, then without faults until nothing may be left to do, and looks at what is.
    ///
    /// - Parameters:
    ///   - time: how long it goes on with faults.
    ///   - isStopped: whether nobody cares any more; what is reported then says nothing.
    ///   - spoil: what is done to it before it is looked at in the end, for tests of those who look.
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

    /// The first node, the types, the portals and their users.
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
        for number in 1...population.users {
            users.append(try await User(number, in: self, services))
        }
        for node in nodes.dropFirst() { node.start() }
        faults.isOn = true
    }

    private func begin(until end: Duration) {
        for portal in portals { portal.begin() }
        for user in users { user.begin() }
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

    /// What may go wrong by itself.
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
        // What was tried in vain is tried again within an hour and a quarter: machines and all sleep so long.
        scheduler.sleep(for: .seconds(4600))
        scheduler.run(until: scheduler.elapsed + .seconds(60)) { self.isOver }
    }

    /// A promise is broken: the world ends here.
    func violate(_ invariant: Int, _ text: String) {
        guard violation == nil else { return }
        violation = Violation(invariant: invariant, text: text, elapsed: scheduler.elapsed)
        trace.note("invariant \(invariant)", text)
    }

    // What parties were told

    /// Somebody was told how a challenge stands.
    func tell(_ who: String, of id: ChallengeID, _ told: Ledger.Told) { blame(ledger.tell(who, of: id, told)) }

    /// Breaks the promise that the ledger says is broken.
    func blame(_ fault: (Int, String)?) {
        if let fault { violate(fault.0, fault.1) }
    }

    // Chance

    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }

    func happens(percent: Int) -> Bool { chance.happens(percent: percent) }

    func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(draw(range)) }

    /// How long a message is on its way: mostly some milliseconds, now and then a second.
    func latency() -> Duration {
        var longest = 20
        while longest < 2000, happens(percent: 25) { longest *= 3 }
        return milliseconds(1...longest)
    }

    func seed() -> UInt64 { chance.next() }

    func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &chance) }

    func pause(_ time: Duration) async throws { try await scheduler.wait(until: scheduler.elapsed + time) }

    /// A node that is asked next: a balancer sends nobody to one that is down.
    func someNode() -> Node { pick(nodes.filter { $0.services != nil }) ?? nodes[0] }
}
