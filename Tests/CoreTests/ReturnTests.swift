import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A relying party whose users open links on the device where they started.
private struct LinkScene: Sendable {
    let claim: ClaimScene
    var world: World { claim.world }
    var device: TestDevice { claim.device }

    init(_ engine: Engine = .sqlite) async throws {
        claim = try await ClaimScene(engine)
    }

    /// Asks by a link, which the device opens.
    func opened(_ change: (inout AskChallenge.Request) -> Void = { _ in }) async throws -> AskedChallenge {
        var request = try world.request(for: nil, type: "scan")
        request.returnURI = ReturnURI(stored: ClaimScene.returnURI)
        change(&request)
        let asked = try await world.ask(request, by: claim.shop)
        let shown = try #require(asked.code)
        #expect(shown.isLink)
        #expect(try await claim.claim(shown.code, by: device) == "claimed")
        try await device.open(asked.challenge.id)
        return asked
    }

    /// Sends a decision, and gives back what was signed and what the device is told.
    func answer(
        _ asked: AskedChallenge, _ decision: Decision = .approved(.confirm, number: nil)
    ) async throws -> (message: [UInt8], outcome: AnswerChallenge.Outcome) {
        let message = try await device.receipt(of: try await claim.challenge(asked), decision)
        return (message, try await device.answer(asked.challenge.id, with: message))
    }

    /// Approves, and gives back the code that the device brings back.
    func approved(_ asked: AskedChallenge) async throws -> Secret<String> {
        try await code(in: try await answer(asked).outcome)
    }

    func code(in outcome: AnswerChallenge.Outcome) async throws -> Secret<String> {
        let code = try await device.returnCode(in: outcome)
        return try #require(code, "no code: \(outcome)")
    }

    func present(
        _ code: Secret<String>, _ asked: AskedChallenge, by client: Client? = nil
    ) async throws -> String {
        try await ReturnChallenge.present(
            code, for: asked.challenge.id, by: (client ?? claim.shop).caller, ports: world.ports
        ).summary
    }

    /// How the client sees it.
    func seen(_ asked: AskedChallenge) async throws -> String {
        let shown = try await WatchChallenge.shown(asked.challenge.id, to: claim.shop, ports: world.ports)
        let status = try #require(shown).challenge.state.status
        return status.reason.map { "\(status.state) \($0)" } ?? status.state
    }

    func hasReceipt(_ asked: AskedChallenge) async throws -> Bool {
        switch try await ShowReceipt.receipt(of: asked.challenge.id, to: claim.shop.id, ports: world.ports) {
        case .receipt: true
        case .none: false
        case .challengeNotFound: throw World.Broken("challenge")
        }
    }

    func kinds(_ asked: AskedChallenge) async throws -> [AuditEventKind] {
        try await world.audit().filter { $0.challenge == asked.challenge.id }.map(\.kind)
    }
}

@Suite("What is approved by a link comes to light when its code is brought back")
struct ReturnTests {
    @Test("A return code can be typed as an argument: hexadecimal digits, never a hyphen at its beginning")
    func typed() async throws {
        let world = try await World()
        let hasher = world.ports.hasher
        for each in UInt8(0)..<200 {
            let challenge = ChallengeID(at: world.time.now, random: [UInt8](repeating: each, count: 10))
            let code = hasher.returnCode(of: challenge).reveal()
            #expect(Hex.decode(code)?.count == 16, "\(code)")
        }
    }

    @Test(
        "Nobody but the device knows of the approval until its code is presented, not by state, receipt or callback",
        arguments: Engine.allCases)
    func whole(_ engine: Engine) async throws {
        let scene = try await LinkScene(engine)
        let asked = try await scene.opened { $0.callbackURI = CallbackURI(stored: World.callback) }
        let code = try await scene.approved(asked)
        #expect(try await scene.seen(asked) == "pending")
        #expect(try await !scene.hasReceipt(asked))
        #expect(try await scene.world.count("outbox") == 0)
        #expect(try await scene.claim.shown(asked.challenge.id) == "already claimed")
        let pending = try await scene.world.store.read {
            try $0.targets.pending(
                of: scene.device.enrollment, user: scene.claim.user, now: scene.world.time.now, limit: 10)?.challenges
        }
        #expect(pending == [], "the device has done its part")
        #expect(try await scene.present(code, asked) == "released approved")
        #expect(try await scene.seen(asked) == "approved")
        #expect(try await scene.hasReceipt(asked))
        #expect(try await scene.world.count("outbox") == 1)
        #expect(try await scene.present(code, asked) == "already ended approved -", "it works once")
        #expect(
            try await scene.kinds(asked) == [
                .challengeAsked, .challengeClaimed, .challengeFetched, .challengeReturning, .challengeApproved,
            ])
    }

    @Test("A client's export shows the approval when its code is presented, and not before; an operator's does at once")
    func exported() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        func exported(_ scope: ListScope) async throws -> (receipts: Int, kinds: Set<AuditEventKind>) {
            let caller = scene.claim.shop.caller
            var export = try #require(
                try await ExportUser.begin(
                    .id(scene.claim.user), in: scope, by: caller, ports: scene.world.ports
                ).export)
            var (receipts, kinds) = (0, Set<AuditEventKind>())
            while let parts = try await export.next(ports: scene.world.ports) {
                for part in parts {
                    if case .receipt = part { receipts += 1 }
                    if case .event(let event) = part { kinds.insert(event.kind) }
                }
            }
            return (receipts, kinds)
        }
        let code = try await scene.approved(asked)
        let (before, operators) = (try await exported(.client(scene.claim.shop.id)), try await exported(.all))
        #expect(before.receipts == 0 && !before.kinds.contains(.challengeReturning))
        #expect(before.kinds.contains(.challengeClaimed))
        #expect(operators.receipts == 1 && operators.kinds.contains(.challengeReturning))
        #expect(try await scene.present(code, asked) == "released approved")
        let after = try await exported(.client(scene.claim.shop.id))
        #expect(after.receipts == 1 && after.kinds.contains(.challengeApproved))
        #expect(!after.kinds.contains(.challengeReturning))
    }

    @Test("A code of another challenge, an altered one, and any before the approval are one refusal; ten are looked at")
    func wrong() async throws {
        let scene = try await LinkScene()
        let (asked, another) = (try await scene.opened(), try await scene.opened())
        let right = scene.world.ports.hasher.returnCode(of: asked.challenge.id)
        #expect(try await scene.present(right, asked) == "code invalid", "nothing is approved yet")
        let code = try await scene.approved(asked)
        #expect(code.isSame(as: right))
        let other = try await scene.approved(another)
        for wrong in [other.reveal(), "", "\(code.reveal())A", String(code.reveal().dropLast()), "x\u{0}"] {
            #expect(try await scene.present(Secret(wrong), asked) == "code invalid")
        }
        #expect(try await scene.seen(asked) == "pending")
        let stranger = try await scene.world.makeClient("Elsewhere").client
        #expect(try await scene.present(code, asked, by: stranger) == "not found")
        for _ in 0..<4 { #expect(try await scene.present(other, asked) == "code invalid") }
        #expect(try await scene.present(other, asked) == "rate limited 60")
        #expect(try await scene.present(code, asked) == "released approved", "the right one counts all the same")
        #expect(try await scene.present(other, another) == "released approved")
    }

    @Test(
        "The same answer again brings the same code; another answer is told that it was approved, and changes nothing")
    func repeated() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        let (message, first) = try await scene.answer(asked)
        let again = try await scene.device.answer(asked.challenge.id, with: message)
        let code = try await scene.code(in: first)
        #expect(try await scene.code(in: again).isSame(as: code))
        for decision in [Decision.denied, .reported, .approved(.confirm, number: nil)] {
            scene.world.time.advance(seconds: 1)
            #expect(try await scene.answer(asked, decision).outcome.summary == "already ended approved -")
        }
        #expect(try await scene.seen(asked) == "pending")
        #expect(try await scene.present(code, asked) == "released approved")
        let late = try await scene.device.answer(asked.challenge.id, with: message)
        #expect(try await scene.code(in: late).isSame(as: code), "its reply may have been lost")
    }

    @Test(
        "Two minutes for the way back, also where the question was about to end; then it is as if nobody had answered")
    func late() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        scene.world.time.advance(seconds: 119)
        let code = try await scene.approved(asked)
        scene.world.time.advance(seconds: 119)
        #expect(try await ExpireChallenges.sweep(ports: scene.world.ports) == 0)
        #expect(try await scene.seen(asked) == "pending")
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.present(code, asked) == "already ended expired -")
        #expect(try await scene.seen(asked) == "expired")
        #expect(try await !scene.hasReceipt(asked))
        #expect(try await scene.world.count("receipts") == 0, "what decided nothing is not kept")
        #expect(try await scene.kinds(asked).last == .challengeExpired)
        let challenge = try await scene.claim.challenge(asked)
        #expect(challenge.state == .ended(.expired, at: scene.world.time.now))
    }

    @Test("The client may take it back meanwhile; a no needs no way back and brings none")
    func otherEnds() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        let code = try await scene.approved(asked)
        let cancelled = try await CancelChallenge.cancel(
            asked.challenge.id, by: scene.claim.shop.caller, ports: scene.world.ports)
        guard case .cancelled(let challenge) = cancelled else { throw World.Broken("cancel") }
        #expect(challenge.state.status.state == "cancelled")
        #expect(try await scene.present(code, asked) == "already ended cancelled -")
        #expect(try await scene.world.count("receipts") == 0)
        for (decision, end) in [(Decision.denied, "denied declined"), (.reported, "denied reported")] {
            let asked = try await scene.opened()
            guard case .decided(let reply) = try await scene.answer(asked, decision).outcome else {
                throw World.Broken("answer")
            }
            #expect(reply.returnMessage == nil)
            #expect(try await scene.seen(asked) == end)
            #expect(try await scene.hasReceipt(asked))
        }
    }

    @Test(
        "A device that is removed has approved nothing: what it held back fails, by whomever it is removed, and its code",
        arguments: Engine.allCases, [true, false])
    func removed(_ engine: Engine, _ bySelf: Bool) async throws {
        let scene = try await LinkScene(engine)
        let (world, user) = (scene.world, scene.claim.user)
        let asked = try await scene.opened { $0.callbackURI = CallbackURI(stored: World.callback) }
        let late = try await scene.opened()
        let (code, lateCode) = (try await scene.approved(asked), try await scene.approved(late))
        #expect(try await scene.present(lateCode, late) == "released approved", "what was released before stays so")
        // Another device of the user, which could have been asked as well, makes no difference.
        _ = try await world.makeDevice(of: user, by: scene.claim.shop)
        if bySelf {
            let call = try await scene.device.call()
            #expect(try await RemoveOwnEnrollment.remove(by: call, ports: world.ports) == .removed)
        } else {
            #expect(
                try await RemoveEnrollment.remove(
                    scene.device.enrollment, of: .id(user), by: scene.claim.shop.caller, ports: world.ports)
                    == .removed)
        }
        #expect(try await scene.seen(asked) == "failed device_removed")
        #expect(try await scene.present(code, asked) == "already ended failed device_removed")
        #expect(try await !scene.hasReceipt(asked))
        #expect(try await world.count("receipts") == 1)
        #expect(try await scene.hasReceipt(late))
        #expect(try await world.count("outbox") == 1, "the client is called with the end")
        #expect(try await scene.seen(late) == "approved")
        #expect(try await scene.kinds(asked).last == .challengeFailed)
    }

    @Test("Whatever else takes a device's right away: its state counts when the code is presented")
    func inactive() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        let code = try await scene.approved(asked)
        // As a row would stand that something else than the operation above had removed.
        let (id, now) = (scene.device.enrollment, scene.world.time.now)
        _ = try await scene.world.store.commit { try $0.enrollments.remove(id, reason: .client, at: now) }
        #expect(try await scene.present(code, asked) == "already ended failed device_removed")
        #expect(try await scene.seen(asked) == "failed device_removed")
        #expect(try await scene.world.count("receipts") == 0)
    }

    @Test(
        "What a suspended device held back fails as that: with the suspension, or at the latest when the code is presented",
        arguments: Engine.allCases, [true, false])
    func suspended(_ engine: Engine, _ byOperation: Bool) async throws {
        let scene = try await LinkScene(engine)
        let (world, id) = (scene.world, scene.device.enrollment)
        let asked = try await scene.opened()
        let code = try await scene.approved(asked)
        if byOperation {
            let done = try await SuspendEnrollment.suspend(id, true, by: scene.claim.shop.actor, ports: world.ports)
            guard case .done = done else { throw World.Broken("suspend") }
            #expect(try await scene.seen(asked) == "failed device_suspended")
        } else {
            let now = world.time.now
            try await world.store.commit { try $0.enrollments.suspend(id, since: now) }
        }
        #expect(try await scene.present(code, asked) == "already ended failed device_suspended")
        #expect(try await scene.seen(asked) == "failed device_suspended")
        #expect(try await world.count("receipts") == 0)
    }

    @Test("The browser is known from when the code comes back to it: a link that was sent to somebody teaches nothing")
    func browser() async throws {
        let scene = try await LinkScene()
        let browser = try #require(BrowserID("3f1c9a04-7c55-4be1"))
        let asked = try await scene.opened { request in
            request.user = .id(scene.claim.user)
            request.browser = browser
        }
        func isKnown() async throws -> Bool {
            let (user, client) = (scene.claim.user, scene.claim.shop.id)
            let hash = scene.world.ports.hasher.hash(of: browser, client: client)
            return try await scene.world.store.read { try $0.browsers.isKnown(hash, of: user, by: client) }
        }
        let code = try await scene.approved(asked)
        #expect(try await !isKnown())
        #expect(try await scene.present(code, asked) == "released approved")
        #expect(try await isKnown())
    }

    @Test("A wait that began before the approval lasts until the code is presented")
    func waiting() async throws {
        let scene = try await LinkScene()
        let asked = try await scene.opened()
        let (world, id) = (scene.world, asked.challenge.id)
        let deadline = world.time.now.adding(seconds: 600)
        let beginning = try await WatchChallenge.challenge(
            id, for: scene.claim.shop.credential, waitingUntil: deadline, changes: world.hub, ports: world.ports)
        guard case .waiting(let wait) = beginning else { throw World.Broken("wait") }
        async let outcome = wait.outcome(ports: world.ports)
        let code = try await scene.approved(asked)
        // Beyond the end that the question had.
        world.time.advance(seconds: 119)
        #expect(try await scene.present(code, asked) == "released approved")
        let found = try await outcome
        #expect(found.shown?.challenge.state.status.state == "approved")
    }
}
