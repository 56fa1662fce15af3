import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

/// What a cycle costs the database, so that it stays as cheap as it was made: a device waits, a portal asks and waits,
/// the device answers what its poll brought, and the portal is told.
///
/// The row of `commits` that PostgreSQL has for each commit that changes something is counted, too.
@Suite("What a cycle costs: statements and transactions")
struct CycleCostTests {
    private let recorder: RecordingEngine
    private let world: World

    init() async throws {
        (world, recorder) = try await World.recorded()
    }

    /// The steps of a cycle, with what each cost.
    private struct Steps {
        let recorder: RecordingEngine
        private(set) var costs: [(step: String, cost: RecordingEngine.Cost)] = []

        mutating func note(_ step: String) {
            var cost = recorder.takeCost()
            if Engine.chosen == .postgresql { cost.statements += cost.writes }
            costs.append((step, cost))
        }

        var total: RecordingEngine.Cost {
            costs.reduce(into: RecordingEngine.Cost()) { total, step in
                total.statements += step.cost.statements
                total.reads += step.cost.reads
                total.writes += step.cost.writes
            }
        }

        var table: String {
            costs.map { "\($0.step): \($0.cost.statements) statements, \($0.cost.reads) + \($0.cost.writes)" }
                .joined(separator: "\n")
        }
    }

    @Test(
        "The usual cycle: 8 transactions that read, 2 that write, and no statement more than it had",
        arguments: [false, true])
    func usual(hasCallback: Bool) async throws {
        try await world.makeType()
        let made = try await world.makeClient(waives: true)
        let user = try await world.makeUser("customer", of: made.client)
        let device = try await world.makeDevice(of: user, by: made.client)
        let ports = world.ports
        func authenticated() async throws -> ClientCaller {
            guard
                case .authenticated(let caller) = try await AuthenticateClient.authenticate(
                    "\(made.client.id)", secret: made.secret, ports: ports)
            else { throw World.Broken("client") }
            return caller
        }
        let deadline = world.time.now.adding(seconds: 60)
        var steps = Steps(recorder: recorder)
        _ = recorder.takeCost()

        guard
            case .waiting(let poll) = try await PendingChallenges.list(
                for: try await device.call(), waitingUntil: deadline, since: nil, changes: ports.changes, ports: ports)
        else { throw World.Broken("poll") }
        steps.note("poll, waiting")

        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        var request = try world.request(for: user)
        if hasCallback { request.callbackURI = CallbackURI(stored: World.callback) }
        let result = try await AskChallenge.ask(request, by: try await authenticated(), idempotency: key, ports: ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("ask") }
        steps.note("ask")

        guard
            case .waiting(let wait) = try await WatchChallenge.challenge(
                asked.challenge.id, for: made.client.caller.credential, waitingUntil: deadline,
                changes: ports.changes, ports: ports)
        else { throw World.Broken("wait") }
        steps.note("wait of the portal")

        guard case .list(let list, _) = try await poll.outcome(ports: ports), list.first?.message != nil else {
            throw World.Broken("list")
        }
        steps.note("poll, told")

        let receipt = try await device.receipt(of: asked, .approved(.confirm, number: asked.number))
        _ = recorder.takeCost()
        guard case .decided = try await device.answer(asked.challenge.id, with: receipt) else {
            throw World.Broken("answer")
        }
        steps.note("answer")

        guard case .shown(let shown) = try await wait.outcome(ports: ports), shown.receipt != nil else {
            throw World.Broken("told")
        }
        steps.note("portal, told")
        // The aim is 25; what is missing is that rows of clients, types and enrollments are read again each time.
        let statements = (Engine.chosen == .postgresql ? 43 : 39) + (hasCallback ? 1 : 0)
        #expect(steps.total.statements <= statements, "\(steps.table)")
        #expect(steps.total.reads <= 8 && steps.total.writes <= 2, "\(steps.table)")
    }
}
