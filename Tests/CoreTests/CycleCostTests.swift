import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// The steps of a cycle, with what each cost.
private struct Steps {
    let recorder: RecordingEngine
    private(set) var costs: [(step: String, cost: RecordingEngine.Cost)] = []

    /// Counts from now on.
    init(_ recorder: RecordingEngine) {
        self.recorder = recorder
        skip()
    }

    /// Leaves out what ran since the last step.
    func skip() { _ = recorder.takeCost() }

    mutating func note(_ step: String) {
        costs.append((step, recorder.takeCost()))
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

/// What a cycle costs the database, so that it stays as cheap as it was made: a device waits, a portal asks and waits,
/// the device answers what its poll brought, and the portal is told.
///
/// On PostgreSQL the row of `commits` goes with the last change of a transaction, in one statement. The two reads that take
/// a lock, of the client that asks and of the device that answers, are counted like all others.
@Suite("What a cycle costs: statements and transactions")
struct CycleCostTests {
    private let recorder: RecordingEngine
    private let world: World

    init() async throws {
        (world, recorder) = try await World.recorded()
    }

    @Test(
        "The usual cycle: 24 statements and 2 that take a lock, in 5 transactions that read and 2 that write",
        arguments: [false, true])
    func usual(hasCallback: Bool) async throws {
        try await world.makeType()
        let made = try await world.makeClient(waives: true)
        let user = try await world.makeUser("customer", of: made.client)
        let device = try await world.makeDevice(of: user, by: made.client)
        let ports = world.ports
        // A device and a client that have called before, which is the usual case.
        _ = try await ShowOwnEnrollment.show(to: try await device.call(), ports: ports)
        _ = try await AuthenticateClient.authenticate("\(made.client.id)", secret: made.secret, ports: ports)
        func credential() throws -> ClientCredential {
            try #require(AuthenticateClient.recognize("\(made.client.id)", secret: made.secret, ports: ports))
        }
        let deadline = world.time.now.adding(seconds: 60)
        var steps = Steps(recorder)

        guard
            case .waiting(let poll) = try await PendingChallenges.list(
                for: try await device.call(), waitingUntil: deadline, since: nil, changes: ports.changes, ports: ports)
        else { throw World.Broken("poll") }
        steps.note("poll, waiting")

        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        var request = try world.request(for: user)
        if hasCallback { request.callbackURI = CallbackURI(stored: World.callback) }
        let result = try await AskChallenge.ask(request, by: try credential(), idempotency: key, ports: ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("ask") }
        steps.note("ask")

        guard
            case .waiting(let wait) = try await WatchChallenge.challenge(
                asked.challenge.id, for: try credential(), waitingUntil: deadline,
                changes: ports.changes, ports: ports)
        else { throw World.Broken("wait") }
        steps.note("wait of the portal")

        guard case .list(let list, _) = try await poll.outcome(ports: ports), list.first?.message != nil else {
            throw World.Broken("list")
        }
        steps.note("poll, told")

        let receipt = try await device.receipt(of: asked, .approved(.confirm, number: asked.number))
        steps.skip()
        guard case .decided = try await device.answer(asked.challenge.id, with: receipt) else {
            throw World.Broken("answer")
        }
        steps.note("answer")

        guard case .shown(let shown) = try await wait.outcome(ports: ports), shown.receipt != nil else {
            throw World.Broken("told")
        }
        steps.note("portal, told")
        let statements = hasCallback ? 27 : 26
        expect(steps, (statements, statements), reads: 5, writes: 2)
    }

    @Test("A cycle with a PIN")
    func pin() async throws {
        let scene = try await PINScene(in: world)
        let pin = try await scene.device.setPIN()
        try await answered(by: scene.device, of: scene.user, scene.shop, statements: (22, 22)) { asked in
            AnswerRequest(message: try await scene.device.approval(of: asked, by: pin))
        }
    }

    @Test("A cycle with a custom authenticator, whose hook is asked between two transactions")
    func hook() async throws {
        let scene = try await CustomScene(in: world)
        try await scene.register()
        world.hooks.say(HookVerdict(.ok))
        try await answered(by: scene.device, of: scene.user, scene.shop, statements: (31, 34), writes: 3) { asked in
            try await scene.approval(of: asked)
        }
    }

    /// A question that a device answers which its poll has brought.
    private func answered(
        by device: TestDevice, of user: UserID, _ shop: Client, statements: (sqlite: Int, postgresql: Int),
        writes: Int = 2, answer: (AskedChallenge) async throws -> AnswerRequest
    ) async throws {
        var steps = Steps(recorder)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        steps.note("ask")
        guard case .list = try await PendingChallenges.list(for: try await device.call(), ports: world.ports) else {
            throw World.Broken("list")
        }
        steps.note("poll")
        let request = try await answer(asked)
        steps.skip()
        guard case .decided = try await device.answer(asked.challenge.id, with: request) else {
            throw World.Broken("answer")
        }
        steps.note("answer")
        try await told(of: asked, shop, &steps)
        expect(steps, statements, reads: 3, writes: writes)
    }

    @Test("A cycle with a code that a device scans", arguments: [false, true])
    func code(isLink: Bool) async throws {
        let scene = try await ClaimScene(in: world)
        _ = try await scene.device.call()
        var steps = Steps(recorder)
        var request = try world.request(for: nil, type: "scan")
        if isLink { request.returnURI = ReturnURI(stored: ClaimScene.returnURI) }
        let asked = try await world.ask(request, by: scene.shop)
        steps.note("ask")
        let code = isLink ? try #require(asked.code).code : try await scene.code(of: asked)
        steps.note("code")
        #expect(try await scene.claim(code, by: scene.device) == "claimed")
        steps.note("claim")
        try await scene.device.open(asked.challenge.id)
        steps.note("fetch")
        let message = try await scene.device.receipt(
            of: try await scene.challenge(asked), .approved(.confirm, number: nil))
        steps.skip()
        let outcome = try await scene.device.answer(asked.challenge.id, with: message)
        steps.note("answer")
        if isLink {
            let code = try #require(try await scene.device.returnCode(in: outcome))
            guard
                case .released = try await ReturnChallenge.present(
                    code, for: asked.challenge.id, by: scene.shop.caller, ports: world.ports)
            else { throw World.Broken("return") }
            steps.note("return")
        }
        try await told(of: asked, scene.shop, &steps)
        expect(steps, isLink ? (36, 38) : (33, 34), reads: isLink ? 2 : 3, writes: isLink ? 5 : 4)
    }

    @Test("A cycle with a code by text message, without sending it")
    func text() async throws {
        let scene = try await TextScene(in: world)
        let request = try scene.request()
        var steps = Steps(recorder)
        let asked = try await scene.asking(request).get()
        steps.note("ask")
        let code = try await scene.code()
        let challenge = try await world.challenge(asked)
        steps.skip()
        #expect(try await scene.enter(code, challenge) == "approved by text_code")
        steps.note("code")
        try await told(of: asked, scene.shop, &steps)
        expect(steps, (22, 23), reads: 1, writes: 2)
    }

    private func told(of asked: AskedChallenge, _ shop: Client, _ steps: inout Steps) async throws {
        guard
            case .shown(let shown) = try await WatchChallenge.challenge(
                asked.challenge.id, for: shop.credential, ports: world.ports), shown.challenge.state.isEnded
        else { throw World.Broken("end") }
        steps.note("portal, told")
    }

    private func expect(
        _ steps: Steps, _ statements: (sqlite: Int, postgresql: Int), reads: Int, writes: Int
    ) {
        let most = Engine.chosen == .postgresql ? statements.postgresql : statements.sqlite
        #expect(steps.total.statements == most, "\(steps.table)")
        #expect(steps.total.reads == reads && steps.total.writes == writes, "\(steps.table)")
    }
}
