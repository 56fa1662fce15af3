import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport

/// A relying party: asks, waits, takes back, asks again by the same key, dies and comes back.
final class Portal: @unchecked Sendable {
    static let types: [(name: String, methods: [AnswerMethod], hasNumber: Bool, channel: Channel.Kind)] = [
        ("payment", [.confirm], true, .devices), ("login", [.confirm, .pin], false, .devices),
        ("transfer", [.pin], true, .devices), ("scan", [.confirm], false, .code),
    ]
    /// How long questions of these live, in seconds.
    static let lifetime: Int64 = 90
    /// How long a further device of theirs waits, in seconds.
    static let coolingOff: Int64 = 1800

    let number: Int
    let client: Client
    private let secret: Secret<String>
    private unowned let world: SimulatedWorld
    private var keys = 0

    var name: String { "portal \(number)" }
    var callback: String { "https://portal\(number).example.com/countersign" }

    init(_ number: Int, in world: SimulatedWorld, _ services: Node.Services) async throws {
        self.number = number
        self.world = world
        let ports = services.ports
        if number == 1 {
            for type in Self.types {
                guard let name = TypeName(type.name) else { throw World.Broken("type") }
                let made = ChallengeType(
                    name: name, methods: type.methods, channel: type.channel, lifetime: Self.lifetime,
                    numberEntry: type.hasNumber, signingData: true, assurance: .receipt, maximumPending: 5,
                    maximumAsks: 20, denialPause: 0, maximumResends: 3)
                try await ports.store.commit { try $0.types.put(made) }
            }
        }
        let request = CreateClient.Request(
            name: try ClientName("Portal \(number)"), rights: Set(Right.allCases),
            callbackURIs: [CallbackURI(stored: "https://portal\(number).example.com/countersign")], returnURIs: [],
            waivesEnrollmentApproval: false, coolingOff: Self.coolingOff, pinPolicy: .standard, authenticators: [])
        let result = try await CreateClient.create(request, idempotency: nil, ports: ports)
        guard case .done(.created(let created)) = result else { throw World.Broken("client") }
        client = created.client
        secret = created.secret
    }

    func begin() {
        world.scheduler.start { [self] in
            while !world.isCalm {
                let pause = 7_200_000 / world.population.asksPerHour
                try? await world.pause(world.milliseconds(1...pause))
                guard !world.isCalm, let user = world.pick(world.users) else { continue }
                world.scheduler.start { [self] in await ask(user) }
            }
        }
    }

    /// A call as this client, again until somebody answers, or not.
    ///
    /// - Returns: nil when nobody did.
    private func call<Reply: Sendable>(
        tries: Int = 5, waiting: Duration = .zero,
        _ body: @escaping @Sendable (Node.Services, ClientCaller) async throws -> Reply
    ) async -> Reply? {
        for _ in 0..<tries {
            let node = world.someNode()
            do {
                let reply = try await Network(world: world).call(node, waiting: waiting) { [client, secret] services in
                    let caller = try await AuthenticateClient.authenticate(
                        "\(client.id)", secret: secret, ports: services.ports)
                    guard let caller else { throw World.Broken("client") }
                    return try await body(services, caller)
                }
                world.ledger.counts.clientCalls += 1
                return reply
            } catch is Unanswered {
            } catch StoreError.unavailable {
            } catch is CancellationError {
            } catch {
                world.violate(0, "\(name): \(error)")
            }
            try? await world.pause(world.milliseconds(200...3000))
        }
        return nil
    }

    /// A ticket for a user; nil when there is none to be had.
    func ticket(for user: User) async -> EnrollmentInvitation? {
        let id = user.id
        let made = await call { services, caller in
            try await CreateTicket.create(for: .id(id), by: caller.client, idempotency: nil, ports: services.ports)
        }
        guard case .done(.created(let created))? = made else { return nil }
        world.ledger.keepSecret(created.invitation.ticket.reveal())
        return created.invitation
    }

    /// Removes a device of a user.
    func remove(_ enrollment: EnrollmentID, of user: User) async {
        let id = user.id
        let removed = await call(tries: 1) { services, caller in
            try await RemoveEnrollment.remove(
                enrollment, of: .id(id), by: caller.client, because: .security, ports: services.ports)
        }
        if removed == .removed { world.trace.note(name, "removes \(enrollment)") }
    }

    private func ask(_ user: User) async {
        keys += 1
        let key = "\(number)-\(keys)"
        guard let type = world.pick(Self.types), let name = TypeName(type.name),
            let message = try? DisplayMessage("Pay EUR 1,250.00 to ACME GmbH?")
        else { return }
        var request = AskChallenge.Request(
            user: type.channel == .code ? nil : .id(user.id), type: name, message: message)
        request.clientState = key
        request.callbackURI = world.happens(percent: 70) ? CallbackURI(stored: callback) : nil
        guard let asked = await ask(request, by: key) else { return }
        world.trace.note(self.name, "asked \(asked.id) \(type.name) by \(key)")
        if let number = asked.number {
            user.screen[asked.id] = number
            world.ledger.keepSecret(number.digits)
        }
        if let code = asked.code { user.scan(code) }
        if world.happens(percent: 8) {
            world.scheduler.start { [self] in
                try? await world.pause(world.milliseconds(10...40_000))
                await cancel(asked.id)
            }
        }
        // Now and then it dies here, and never hears.
        if world.happens(percent: 95) { await wait(for: asked.id, user) }
    }

    /// What a portal keeps of what it has asked.
    private struct Asked: Sendable {
        let id: ChallengeID
        let number: EntryNumber?
        let code: ChallengeCode?

        init(_ asked: AskedChallenge) {
            (id, number, code) = (asked.challenge.id, asked.number, asked.code?.code)
        }
    }

    private func ask(_ request: AskChallenge.Request, by key: String) async -> Asked? {
        let body = Array(key.utf8)
        var asked: Asked?
        // Asked once more by the same key, though the answer came: it must be the same.
        for _ in 0..<(world.happens(percent: 10) ? 2 : 1) {
            let made = await call { services, caller in
                let idempotency = IdempotencyKey(
                    scope: "\(caller.client.id) ask", key: key, body: body, services.ports.hasher)
                return try await AskChallenge.ask(
                    request, by: caller.client, idempotency: idempotency, ports: services.ports
                )
            }
            switch made {
            case .done(.asked(let done)), .replayed(.asked(let done)): asked = Asked(done)
            case .conflict: world.violate(4, "\(key) is another request's")
            case .done(.refused(let refusal)), .replayed(.refused(let refusal)):
                world.trace.note(name, "may not ask: \(refusal)")
                return nil
            case nil: return nil
            }
            if let asked { world.blame(world.ledger.ask(key, became: asked.id)) }
        }
        return asked
    }

    private func cancel(_ id: ChallengeID) async {
        let outcome = await call { services, caller in
            try await CancelChallenge.cancel(id, by: caller.client.id, ports: services.ports)
        }
        switch outcome {
        case .cancelled(let challenge): tell("cancels", id, challenge.state.status)
        case .alreadyEnded(let status): tell("cancels", id, status)
        case .notFound: world.violate(3, "\(name) was told that it asked \(id), which is not there")
        case nil: break
        }
    }

    private func wait(for id: ChallengeID, _ user: User) async {
        // What was asked by a clock that is an hour ahead is open for an hour longer.
        let longest = Self.lifetime + 240 + (world.ledger.clockSteps == 0 ? 0 : 3900)
        let end = world.scheduler.elapsed + .seconds(longest)
        while world.scheduler.elapsed < end {
            let waiting = world.draw(0...40)
            let found = await call(waiting: .seconds(waiting)) { [world] services, caller in
                let ports = services.ports
                let deadline = ports.time.now.adding(seconds: Int64(waiting))
                let began = world.scheduler.elapsed
                switch try await WatchChallenge.challenge(
                    id, for: caller.credential, waitingUntil: deadline, changes: ports.changes, ports: ports)
                {
                case .ended(let found): return found
                case .waiting(let wait):
                    let found = try await wait.outcome(ports: ports)
                    if case .shown(let shown) = found, shown.challenge.state.isEnded {
                        world.watch.heard(of: id, since: began, by: services.node)
                    }
                    return found
                }
            }
            guard let found else { continue }
            guard case .shown(let shown) = found else {
                world.violate(3, "\(name) was told that it asked \(id), and now \(found)")
                return
            }
            let status = shown.challenge.state.status
            tell("waits", id, status)
            guard shown.challenge.state.isEnded else {
                try? await world.pause(.milliseconds(100))
                continue
            }
            if status.state == "approved" { await check(id) }
            return
        }
        world.violate(0, "\(name) never heard how \(id) ended")
    }

    private func tell(_ verb: String, _ id: ChallengeID, _ status: ChallengeStatus) {
        world.trace.note(name, "\(verb) \(id): \(status.state) \(status.reason ?? "")")
        world.tell(name, of: id, Ledger.Told(state: status.state, reason: status.reason))
    }

    /// Verifies the receipt of an approval, as anybody can.
    private func check(_ id: ChallengeID) async {
        let found = await call { [client] services, _ in
            try await ShowReceipt.receipt(of: id, to: client.id, ports: services.ports)
        }
        switch found {
        case .receipt(let stored):
            guard case .receipt(let signed, let certificate) = stored.evidence,
                let certificate = try? Certificate(parsing: certificate),
                let verified = try? VerifiedReceipt(
                    message: signed.encoded, certificate: certificate,
                    now: SimulatedTime.beginning.unixSeconds + 1_000_000)
            else { return world.violate(2, "the receipt of \(id) does not verify") }
            guard verified.receipt.challenge == id, case .approved = verified.receipt.decision else {
                return world.violate(2, "the receipt of \(id) says something else")
            }
            world.ledger.counts.approved += 1
        case nil: break
        case .none?, .challengeNotFound: world.violate(2, "\(id) is approved and has no receipt")
        }
    }
}
