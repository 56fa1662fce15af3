import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport

/// A relying party: it asks, waits, cancels, repeats requests by their keys, crashes and restarts.
final class Portal: @unchecked Sendable {
    /// A challenge type of the portals.
    struct Kind: Sendable {
        var name: String
        var methods: [AnswerMethod] = []
        var hasNumber = false
        var isQR = false
        var isText = false
        var fallback: String?
        var unknownBrowser: String?
        var attempts: Int?
    }

    /// What a client is in the simulation.
    enum Role {
        /// It enrolls and asks.
        case portal
        /// It is somebody else's, and has what its users allow it.
        case thirdParty
        /// Its server asks; see ``CallCentre``.
        case callCentre
    }

    /// The custom authenticator, which hooks judge.
    static let phrase = AuthenticatorName("phrase")
    private static let kinds = [
        Kind(name: "payment", methods: [.confirm], hasNumber: true), Kind(name: "login", methods: [.confirm, .pin]),
        Kind(name: "transfer", methods: [.pin], hasNumber: true, fallback: "text"),
        Kind(name: "scan", methods: [.confirm], isQR: true), Kind(name: "touch", methods: [.biometric, .pin]),
        Kind(name: "phrase", methods: phrase.map { [.custom($0), .pin] } ?? [], attempts: 4),
        Kind(name: "page", methods: [.confirm, .pin], unknownBrowser: "scan"),
        Kind(name: "text", isText: true, attempts: textAttempts),
    ]
    /// The lifetime of challenges of these types, in seconds.
    static let lifetime: Int64 = 90
    /// The cooling-off times of the portals for a further device, in seconds.
    static let coolingOffs: [Int64] = [1800, 60, 604_800]

    let number: Int
    let role: Role
    let client: Client
    let coolingOff: Int64
    unowned let world: SimulatedWorld
    private let secret: Secret<String>
    private var keys = 0
    /// Until when some node may still refuse it as disabled.
    private var disabledUntil = Duration.zero
    /// Whether it is being deleted or was deleted.
    private(set) var isGone = false

    var name: String {
        switch role {
        case .portal: "portal \(number)"
        case .thirdParty: "third party"
        case .callCentre: "call centre \(number)"
        }
    }
    var host: String { "https://portal\(number).example.com" }

    init(
        _ number: Int, in world: SimulatedWorld, _ services: Node.Services, as role: Role = .portal
    ) async throws {
        self.number = number
        self.role = role
        self.world = world
        let ports = services.ports
        // Others make nobody's devices wait longer than the portals do.
        coolingOff = role == .portal ? Self.coolingOffs[(number - 1) % Self.coolingOffs.count] : 60
        // The second portal allows two devices for each user, and removes a device whose PIN is locked.
        let isStrict = number == 2 && role == .portal
        guard let name = AuthenticatorName("phrase") else { throw World.Broken("name") }
        let phrase = CustomAuthenticator(
            name: name, hook: CallbackURI(stored: "https://portal\(number).example.com/phrase"), attempts: 3)
        let request = CreateClient.Request(
            name: try ClientName("Portal \(number)"), rights: role == .portal ? Set(Right.allCases) : [],
            callbackURIs: [CallbackURI(stored: "https://portal\(number).example.com/countersign")],
            returnURIs: [ReturnURI(stored: "https://portal\(number).example.com/back")],
            waivesEnrollmentApproval: false, coolingOff: Seconds(coolingOff),
            pinPolicy: try PINPolicy(isStrict ? ["at_limit": "remove"] : [:], at: ""),
            deviceLimit: isStrict ? DeviceLimit(maximum: 2, replacesOldest: true) : nil,
            authenticators: [phrase], isThirdParty: role == .thirdParty)
        let result = try await CreateClient.create(request, by: .system, idempotency: nil, ports: ports)
        guard case .done(.created(let created)) = result else { throw World.Broken("client") }
        client = created.client
        secret = created.secret
    }

    /// Sets the challenge types that some portals use.
    static func setTypes(for portals: [Portal], _ ports: Ports) async throws {
        for kind in kinds {
            guard let name = TypeName(kind.name) else { throw World.Broken("type") }
            let type = try ChallengeType(
                .members([
                    "methods": kind.isText ? nil : .array(kind.methods.map { .string($0.rawValue) }),
                    "qr": .bool(kind.isQR), "text_code": .bool(kind.isText), "expires_in": .integer(lifetime),
                    "number_entry": .bool(kind.hasNumber), "fallback": kind.fallback.map { .string($0) },
                    "unknown_browser": kind.unknownBrowser.map { .string($0) }, "max_pending": 5, "max_asks": 20,
                    "denial_pause": 0, "attempts": kind.attempts.map { .integer(Int64($0)) },
                    "max_resends": .integer(Int64(resends)),
                    "clients": kind.isText ? .array(portals.map { .string("\($0.client.id)") }) : nil,
                ]), name: name)
            try await ports.store.commit { try $0.types.put(type) }
        }
    }

    /// Where the portal's app gets what comes back from a sign-in.
    var app: String { "\(host)/app" }

    /// Lets the portals sign people in, by apps.
    static func openDoors(of portals: [Portal], _ ports: Ports) async throws {
        try await ports.store.commit { stores in for type in ChallengeType.builtIn { try stores.types.put(type) } }
        for portal in portals {
            guard let app = RedirectURI(portal.app) else { throw World.Broken("redirect URI") }
            let party = RelyingParty(
                client: portal.client.id, profile: .native, redirectURIs: [app], askedBrowsers: .all,
                detailTypes: detailTypes)
            guard try await SetRelyingParty.set(party, by: .system, ports: ports) == .set(party) else {
                throw World.Broken("relying party")
            }
        }
    }

    func begin() {
        world.scheduler.start { [self] in
            while !world.isCalm, !isGone {
                let pause = 7_200_000 / world.population.asksPerHour
                try? await world.pause(world.milliseconds(1...pause))
                let known = world.users.filter { $0.id(at: self) != nil }
                guard !world.isCalm, !isGone, let user = world.pick(known) else { continue }
                world.scheduler.start { [self] in await ask(user) }
            }
        }
    }

    /// Calls a node as this client, and repeats the call some times until it is answered.
    ///
    /// - Returns: nil if there was no answer.
    func call<Reply: Sendable>(
        tries: Int = 5, waiting: Duration = .zero,
        _ body: @escaping @Sendable (Node.Services, ClientCaller) async throws -> Reply
    ) async -> Reply? {
        await call(tries: tries, waiting: waiting, as: authenticated, body)
    }

    /// Calls a node with the client's credential, which the node may only have recognized.
    func callRecognized<Reply: Sendable>(
        tries: Int = 5, waiting: Duration = .zero,
        _ body: @escaping @Sendable (Node.Services, ClientCredential) async throws -> Reply
    ) async -> Reply? {
        await call(tries: tries, waiting: waiting, as: recognized, body)
    }

    private func authenticated(at services: Node.Services) async throws -> ClientCaller {
        let outcome = try await AuthenticateClient.authenticate("\(client.id)", secret: secret, ports: services.ports)
        guard case .authenticated(let caller) = outcome, caller.client.disabledAt == nil else {
            throw isLetIn ? World.Broken("client") : Unanswered()
        }
        return caller
    }

    private func recognized(at services: Node.Services) async throws -> ClientCredential {
        let known = AuthenticateClient.recognize("\(client.id)", secret: secret, ports: services.ports)
        if let known { return known }
        return try await authenticated(at: services).credential
    }

    private func call<Caller: Sendable, Reply: Sendable>(
        tries: Int, waiting: Duration, as caller: @escaping @Sendable (Node.Services) async throws -> Caller,
        _ body: @escaping @Sendable (Node.Services, Caller) async throws -> Reply
    ) async -> Reply? {
        let reply = await Network(world: world).answer(
            for: name, tries: tries, waiting: waiting, while: { !isGone }
        ) { services in
            try await body(services, caller(services))
        }
        if reply != nil { world.ledger.counts.clientCalls += 1 }
        return reply
    }

    /// Whether every node must accept this client.
    var isLetIn: Bool { !isGone && world.scheduler.elapsed > disabledUntil }

    /// Creates a ticket for a user; nil if that is refused or not answered.
    func ticket(for user: User) async -> EnrollmentInvitation? {
        guard let id = user.id(at: self) else { return nil }
        let made = await call { services, caller in
            try await CreateTicket.create(for: .id(id), by: caller, idempotency: nil, ports: services.ports)
        }
        guard case .done(.created(let created))? = made else { return nil }
        world.ledger.keepSecret(created.invitation.ticket.reveal())
        return created.invitation
    }

    func remove(_ enrollment: EnrollmentID, of user: User) async {
        guard let id = user.id(at: self) else { return }
        let removed = await call(tries: 1) { services, caller in
            try await RemoveEnrollment.remove(
                enrollment, of: .id(id), by: caller, because: .security, ports: services.ports)
        }
        if removed == .removed { world.trace.note(name, "removes \(enrollment)") }
    }

    private func ask(_ user: User) async {
        keys += 1
        let (key, ledger) = ("\(number)-\(keys)", world.ledger)
        guard let kind = world.pick(Self.kinds), let name = TypeName(kind.name), let id = user.id(at: self),
            let message = try? DisplayMessage("Pay EUR 1,250.00 to ACME GmbH? (\(key))")
        else { return }
        let isNobodys = kind.isQR && world.happens(percent: 70)
        var request = AskChallenge.Request(user: isNobodys ? nil : .id(id), type: name, message: message)
        request.clientState = key
        request.callbackURI = world.happens(percent: 70) ? CallbackURI(stored: "\(host)/countersign") : nil
        if kind.isQR || kind.unknownBrowser != nil, world.happens(percent: 50) {
            request.returnURI = ReturnURI(stored: "\(host)/back")
        }
        if kind.unknownBrowser != nil {
            let browser = "browser-\(world.happens(percent: 60) ? user.number : 0)-at-portal-\(number)"
            request.browser = BrowserID(browser)
            ledger.browsers[key] = browser
        }
        if kind.isText || kind.fallback != nil {
            request.phone = user.telephone
            ledger.telephones[key] = user.telephone
        }
        guard let asked = await ask(request, by: key) else { return }
        world.trace.note(self.name, "asked \(asked.id) \(kind.name) by \(key)")
        if let number = asked.number {
            user.screen[asked.id] = number
            ledger.keepSecret(number.digits)
        }
        if let code = asked.code { user.present(code, of: self) }
        if world.happens(percent: 10) { world.scheduler.start { [self] in await resend(asked.id) } }
        if world.happens(percent: 8) {
            world.scheduler.start { [self] in
                try? await world.pause(world.milliseconds(10...40_000))
                await cancel(asked.id)
            }
        }
        // Sometimes the portal crashes here and never learns the end.
        if world.happens(percent: 95) { await wait(for: asked.id, user) }
    }

    /// What the portal keeps about a challenge.
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
        // A request that is repeated with its key after a reply must get the same reply.
        for _ in 0..<(world.happens(percent: 10) ? 2 : 1) {
            let made = await callRecognized { services, caller in
                let idempotency = IdempotencyKey(
                    scope: "\(caller.client) ask", key: key, body: body, services.ports.hasher)
                return try await AskChallenge.ask(
                    request, by: caller, idempotency: idempotency, ports: services.ports
                )
            }
            switch made {
            case .done(.asked(let done)), .replayed(.asked(let done)): asked = Asked(done)
            case .conflict: world.violate(4, "\(key) is another request's")
            case .done(.refused(let refusal)), .replayed(.refused(let refusal)):
                if case .caller = refusal, isLetIn { world.violate(0, "\(name): \(refusal)") }
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
            try await CancelChallenge.cancel(id, by: caller, ports: services.ports)
        }
        switch outcome {
        case .cancelled(let challenge): tell("cancels", id, challenge.state.status)
        case .alreadyEnded(let status): tell("cancels", id, status)
        case .notFound: world.violate(3, "\(name) was told that it asked \(id), which is not there")
        case nil: break
        }
    }

    private func wait(for id: ChallengeID, _ user: User) async {
        // A challenge that was asked by a clock that is an hour ahead stays open for an hour longer.
        let longest = Self.lifetime + 240 + (world.ledger.clockSteps == 0 ? 0 : 3900)
        let end = world.scheduler.elapsed + .seconds(longest)
        while world.scheduler.elapsed < end, !isGone {
            let waiting = world.draw(0...40)
            let found = await callRecognized(waiting: .seconds(waiting)) { [world] services, caller in
                let ports = services.ports
                let deadline = ports.time.now.adding(seconds: Int64(waiting))
                let began = world.scheduler.elapsed
                switch try await WatchChallenge.challenge(
                    id, for: caller, waitingUntil: deadline, changes: ports.changes, ports: ports)
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
                if case .refused = found, !isLetIn {
                    try? await world.pause(.seconds(5))
                    continue
                }
                world.violate(3, "\(name) was told that it asked \(id), and now \(found)")
                return
            }
            let status = shown.challenge.state.status
            tell("waits", id, status)
            guard shown.challenge.state.isEnded else {
                try? await world.pause(.milliseconds(100))
                continue
            }
            if status.state == "approved", shown.challenge.channel.kind != .text { await check(id) }
            return
        }
        if !isGone { world.violate(0, "\(name) never heard how \(id) ended") }
    }

    // Ends

    /// Creates a user again whom it no longer knows, by the earlier name.
    func makeAnew(_ user: User) async {
        keys += 1
        let key = "\(number)-\(keys)"
        let made = await call(tries: 20) { services, caller in
            let idempotency = IdempotencyKey(
                scope: "\(caller.client.id) users", key: key, body: [], services.ports.hasher)
            return try await CreateUser.create(
                externalID: user.externalID, by: caller, idempotency: idempotency, ports: services.ports)
        }
        switch made {
        case .done(.created(let known)), .replayed(.created(let known)):
            user.link(known.id, at: self)
            for centre in world.callCentres { await centre.meet(user, as: known.id) }
        case .conflict: world.violate(4, "\(key) is another request's")
        case .done, .replayed, nil: world.trace.note(name, "knows \(user.number) no more")
        }
    }

    /// Unlinks a user, and links the user again after a while.
    func letGo(_ user: User) async {
        guard let id = user.id(at: self) else { return }
        let isDone = await call(tries: 20) { services, caller in
            try await UnlinkUser.unlink(.id(id), from: caller, ports: services.ports)
        }
        guard isDone != nil else { return }
        world.trace.note(name, "lets \(user.number) go")
        user.unlink(from: self)
        // Whom no portal knows any more the others forget, too; the user would stay, and with them the phones.
        if !user.links.contains(where: { $0.id == id && $0.end == nil }) {
            for other in world.others { await other.forget(id) }
        }
        try? await world.pause(.seconds(world.draw(1...120)))
        await makeAnew(user)
    }

    /// Every node may refuse it from now on.
    func beDisabled() { disabledUntil = .seconds(1_000_000) }

    /// It is enabled again; after a moment, every node accepts it.
    func beEnabled() { disabledUntil = world.scheduler.elapsed + .seconds(60) }

    /// It is deleted.
    func beDeleted() {
        isGone = true
        for user in world.users { user.unlink(from: self) }
    }

    // Hearing

    func tell(_ verb: String, _ id: ChallengeID, _ status: ChallengeStatus) {
        world.trace.note(name, "\(verb) \(id): \(status.state) \(status.reason ?? "")")
        // A portal's waits and announcements run beside each other, so an earlier reply of one may come after a later one
        // of the other.
        world.tell("\(name), which \(verb),", of: id, Ledger.Told(state: status.state, reason: status.reason))
    }

    /// Verifies the receipt of an approval, as anyone can.
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
