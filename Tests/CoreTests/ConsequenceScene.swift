import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import TestSupport

@testable import CountersignCore

/// Two relying parties, their users and devices, and one act after the other, drawn by chance.
struct ConsequenceScene {
    enum Act: CaseIterable {
        case ask, askByCode, askByText, claim, approve, approveByPIN, deny, report, wrongNumber, refused, cancel,
            enterCode
        case bringBack, resend, pass, ticket, enroll, decideOnDevice, setPIN, wrongPIN, describe, registerPush
        case removeItself, clientRemoves, lost, suspend, suspendOther, removeOther, waive
        case makeUser, block, export, unlink, deleteUser
        case makeClient, updateClient, disable, enable, renewSecrets, deleteClient, unlock, setType, testMessage, retry
    }

    /// What is drawn from: what makes something to act on comes more often than what ends it.
    static let drawn: [Act] = Act.allCases.flatMap { act -> [Act] in
        let count =
            switch act {
            case .ask: 40
            case .ticket, .enroll: 8
            case .askByCode, .claim: 10
            case .approve, .deny, .pass: 6
            case .askByText, .approveByPIN, .wrongPIN, .setPIN, .registerPush, .decideOnDevice, .cancel: 4
            case .enable: 8
            case .deleteClient, .deleteUser, .unlink, .lost, .block: 1
            default: 2
            }
        return [Act](repeating: act, count: count)
    }

    /// A device, with the key of its PIN.
    struct Phone {
        let device: TestDevice
        var pin: SigningKeyPair?
    }

    static let returnURI = "https://shop.example.com/back"

    let world: World
    let watch: CommitWatch
    let admin: Actor
    var chance: SeededGenerator
    var clients: [ClientID] = []
    var users: [UserID] = []
    var phones: [Phone] = []
    var asked: [AskedChallenge] = []
    /// The codes that phones have brought back.
    var codes: [ChallengeID: Secret<String>] = [:]
    var tickets: [EnrollmentInvitation] = []
    /// Messages that were given up.
    var abandoned: [EventID] = []

    init(_ chance: SeededGenerator) async throws {
        var watch: CommitWatch?
        world = try await World(.chosen, in: try TemporaryFolder(), time: ScriptedTime(), seed: chance.seed) { engine in
            let made = CommitWatch(engine)
            watch = made
            return made
        }
        guard let watch else { throw World.Broken("watch") }
        self.watch = watch
        self.chance = chance
        admin = .bootstrap(world.newID())
        try await world.makeType(lifetime: 300, maximumPending: 5, maximumAsks: 100, methods: [.confirm, .pin])
        try await world.makeType("plain", lifetime: 600, numberEntry: false, methods: [.confirm, .pin])
        try await world.makeType("scan", numberEntry: false, channel: .code)
        for waives in [true, false] { try await makeClient(waives: waives) }
        let text = try ChallengeType(
            ["text_code": true, "clients": .array(clients.map { .string("\($0)") })], name: try named("sms"))
        try await world.store.commit { try $0.types.put(text) }
        for _ in 0..<3 {
            try await makeUser(of: try await anyClient())
            try await link(users[users.count - 1])
            for _ in 0..<2 {
                tickets.append(try await world.makeTicket(for: users[users.count - 1], by: try await anyClient()))
            }
        }
        for _ in 0..<4 { try await enroll { _ in } }
    }

    func named(_ name: String) throws -> TypeName {
        guard let name = TypeName(name) else { throw World.Broken("name") }
        return name
    }

    mutating func any<Element>(_ all: [Element]) throws -> Element {
        guard let one = all.randomElement(using: &chance) else { throw World.Broken("nothing to choose from") }
        return one
    }

    /// A client as it is now.
    func client(_ id: ClientID) async throws -> Client {
        guard let client = try await world.store.read({ try $0.clients.find(id) }) else { throw World.Broken("client") }
        return client
    }

    mutating func anyClient() async throws -> Client { try await client(try any(clients)) }

    /// A client that a user is linked to, as it is now.
    mutating func anyClient(of user: UserID) async throws -> Client {
        let linked = try await world.store.read { try $0.users.find(user)?.links.map(\.client) ?? [] }
        return try await client(try any(linked.filter(clients.contains)))
    }

    func enrollment(_ phone: Phone) async throws -> Enrollment {
        let id = phone.device.enrollment
        guard let enrollment = try await world.store.read({ try $0.enrollments.find(id) }) else {
            throw World.Broken("enrollment")
        }
        return enrollment
    }

    /// Does one thing as an actor; the acts of devices call as themselves.
    ///
    /// - Parameter acting: is told who acts, before they do.
    mutating func perform(_ act: Act, acting: (Actor) -> Void) async throws {
        switch act {
        case .ask, .askByCode, .askByText, .cancel, .enterCode, .bringBack, .resend:
            try await performAsAsker(act, acting)
        case .claim, .approve, .approveByPIN, .deny, .report, .wrongNumber, .refused, .wrongPIN, .decideOnDevice:
            try await performAsAnswerer(act, acting)
        case .enroll, .setPIN, .describe, .registerPush, .removeItself, .suspendOther, .removeOther:
            try await performAsDevice(act, acting)
        case .ticket, .clientRemoves, .lost, .suspend, .waive, .makeUser, .block, .export, .unlink, .deleteUser:
            try await performForUsers(act, acting)
        case .pass:
            acting(.system)
            let ports = world.ports
            if chance.happens(percent: 50) { try await ExpireChallenges.sweep(ports: ports) }
            if chance.happens(percent: 50) { try await TellWaits.sweep(ports: ports) }
        case .makeClient, .updateClient, .disable, .enable, .renewSecrets, .deleteClient, .unlock, .setType,
            .testMessage, .retry:
            try await performAsOperator(act, acting)
        }
    }
}

/// What clients do with questions.
extension ConsequenceScene {
    private mutating func performAsAsker(_ act: Act, _ acting: (Actor) -> Void) async throws {
        let ports = world.ports
        switch act {
        case .ask, .askByCode, .askByText:
            let user = try chance.happens(percent: 10) ? any(users) : any(phones).device.invitation.user
            let asker = try await anyClient(of: user)
            acting(asker.actor)
            var request = try world.request(
                for: user, type: act == .ask ? try any(["payment", "plain"]) : act == .askByCode ? "scan" : "sms")
            if act == .askByText { request.phone = PhoneNumber("+15551234567") }
            if act == .askByCode, chance.happens(percent: 50) {
                request.user = nil
                request.returnURI = ReturnURI(stored: Self.returnURI)
            }
            if chance.happens(percent: 60) { request.callbackURI = CallbackURI(stored: World.callback) }
            asked.append(try await world.ask(request, by: asker))
        default:
            let code = act == .bringBack ? codes.randomElement(using: &chance) : nil
            let id = try code?.key ?? any(asked.suffix(12)).challenge.id
            let question = try await world.store.read { try $0.challenges.find(id)?.question }
            guard let question else { return }
            let asker = try await client(question.client)
            acting(asker.actor)
            switch act {
            case .cancel: _ = try await CancelChallenge.cancel(id, by: asker.caller, ports: ports)
            case .resend: _ = try await ResendChallenge.resend(id, by: asker.caller, ports: ports)
            case .enterCode:
                _ = try await EnterCode.enter(EntryNumber(value: 1), for: id, by: asker.caller, ports: ports)
            default:
                _ = try await ReturnChallenge.present(
                    code?.value ?? Secret("0"), for: id, by: asker.caller, ports: ports)
            }
        }
    }
}

/// What devices answer.
extension ConsequenceScene {
    /// A question of a relying party that a phone was put and that is pending.
    private mutating func question() async throws -> (Phone, AskedChallenge, Challenge) {
        for phone in phones.shuffled(using: &chance) {
            let (id, user, now) = (phone.device.enrollment, phone.device.invitation.user, world.time.now)
            let pending = try await world.store.read { stores in
                try stores.targets.pending(of: id, user: user, now: now, limit: 50)?.challenges ?? []
            }
            for challenge in pending.shuffled(using: &chance) {
                guard let question = asked.first(where: { $0.challenge.id == challenge.id }) else { continue }
                return (phone, question, challenge)
            }
        }
        throw World.Broken("no question")
    }

    private mutating func performAsAnswerer(_ act: Act, _ acting: (Actor) -> Void) async throws {
        if act == .claim { return try await claim(acting) }
        if act == .decideOnDevice { return try await decideOnDevice(acting) }
        let (phone, question, challenge) = try await question()
        let device = phone.device
        acting(.device(device.enrollment))
        try await device.open(challenge.id)
        let decision: Decision
        switch act {
        case .approveByPIN, .wrongPIN:
            let key = act == .wrongPIN ? device.newPINKey() : phone.pin ?? device.newPINKey()
            _ = try await device.answer(challenge.id, with: try await device.approval(of: question, by: key))
            return
        case .refused:
            _ = try await device.answer(challenge.id, with: try await device.seal("something else"))
            return
        case .deny: decision = .denied
        case .report: decision = .reported
        case .wrongNumber: decision = .approved(.confirm, number: EntryNumber(value: 1))
        default: decision = .approved(.confirm, number: question.number)
        }
        let outcome = try await device.answer(
            challenge.id, with: try await device.receipt(of: challenge, decision))
        if let code = try await device.returnCode(in: outcome) { codes[challenge.id] = code }
    }

    private mutating func claim(_ acting: (Actor) -> Void) async throws {
        let phone = try any(phones)
        let shown = try await world.challenge(try any(asked.filter { $0.code != nil }.suffix(4)))
        acting(.device(phone.device.enrollment))
        guard let code = ShownCode(of: shown, at: world.time.now, world.ports.hasher)?.code else { return }
        _ = try await ClaimChallenge.claim(code, by: try await phone.device.call(), ports: world.ports)
    }

    /// Answers the question about a new device on another one.
    private mutating func decideOnDevice(_ acting: (Actor) -> Void) async throws {
        let phone = try any(phones)
        acting(.device(phone.device.enrollment))
        let user = phone.device.invitation.user
        let open = try await world.store.read { stores in
            try stores.challenges.open(of: user).filter { $0.purpose != .relyingParty }
        }
        let question = try any(open)
        try await phone.device.open(question.id)
        let number = world.ports.hasher.approvalNumber(of: question.id)
        guard chance.happens(percent: 70) else {
            let decision = chance.happens(percent: 50) ? Decision.denied : .reported
            _ = try await phone.device.answer(
                question.id, with: try await phone.device.receipt(of: question, decision))
            return
        }
        let method: AnswerMethod = phone.pin == nil ? .confirm : .pin
        let receipt = Receipt(
            of: question.question, user: user, device: phone.device.certificate.fingerprint,
            decision: .approved(method, number: number), answeredAt: world.time.now)
        _ = try await phone.device.answer(
            question.id, with: try await phone.device.seal(receipt.text, signedBy: phone.pin))
    }
}

/// What devices do besides.
extension ConsequenceScene {
    private mutating func performAsDevice(_ act: Act, _ acting: (Actor) -> Void) async throws {
        if act == .enroll { return try await enroll(acting) }
        let number = try any(Array(phones.indices))
        let (device, ports) = (phones[number].device, world.ports)
        acting(.device(device.enrollment))
        switch act {
        case .setPIN:
            // A certificate of a test grows once.
            guard phones[number].pin == nil else { return }
            phones[number].pin = try await device.setPIN()
        case .describe:
            let labels = DeviceLabels(name: try DisplayLine("Phone \(number)"), model: nil)
            _ = try await UpdateEnrollment.update(
                EnrollmentUpdate(device: labels), by: try await device.call(), ports: ports)
        case .registerPush: try await device.register(.fcm, token: "\(device.enrollment)")
        case .removeItself: _ = try await RemoveOwnEnrollment.remove(by: try await device.call(), ports: ports)
        default:
            let others = phones.filter { $0.device.invitation.user == device.invitation.user }
            let kind: DeviceAct.Kind =
                act == .removeOther ? .remove : chance.happens(percent: 50) ? .suspend : .resume
            var authorization: [UInt8]?
            let other = try any(others).device.enrollment
            if let pin = phones[number].pin {
                let act = DeviceAct(
                    issuer: ports.issuer, enrollment: device.enrollment, nonce: try await device.methods().nonce,
                    kind: kind, device: other)
                authorization = try await device.seal(act.text, signedBy: pin)
            }
            _ = try await ActOnDevice.act(kind, on: other, authorization, by: try await device.call(), ports: ports)
        }
    }

    private mutating func enroll(_ acting: (Actor) -> Void) async throws {
        let device = try await TestDevice(try any(tickets.suffix(3)), in: world)
        acting(.device(device.enrollment))
        guard case .enrolled = try await device.enroll() else { return }
        tickets.removeAll { $0.enrollment == device.enrollment }
        phones.append(Phone(device: device))
    }
}

/// What clients and the operator do with users and their devices.
extension ConsequenceScene {
    private mutating func performForUsers(_ act: Act, _ acting: (Actor) -> Void) async throws {
        let ports = world.ports
        switch act {
        case .makeUser:
            let maker = try await anyClient()
            acting(maker.actor)
            try await makeUser(of: maker)
        case .ticket, .block, .export, .unlink, .deleteUser:
            let user = try any(users)
            let owner = try await anyClient(of: user)
            acting(owner.actor)
            switch act {
            case .ticket: tickets.append(try await world.makeTicket(for: user, by: owner))
            case .block:
                let changes = UpdateUser.Changes(isEnrollmentBlocked: chance.happens(percent: 30))
                _ = try await UpdateUser.update(.id(user), changes, by: owner.caller, ports: ports)
            case .export: _ = try await ExportUser.begin(.id(user), in: .all, by: owner.caller, ports: ports)
            case .unlink: _ = try await UnlinkUser.unlink(.id(user), from: owner.caller, ports: ports)
            default: _ = try await DeleteUser.delete(.id(user), by: owner.caller, ports: ports)
            }
        default:
            let device = try any(phones).device
            if act == .clientRemoves {
                let owner = try await anyClient(of: device.invitation.user)
                acting(owner.actor)
                _ = try await RemoveEnrollment.remove(
                    device.enrollment, of: .id(device.invitation.user), by: owner.caller, ports: ports)
                return
            }
            acting(admin)
            switch act {
            case .lost:
                _ = try await RemoveEnrollment.remove(device.enrollment, because: .lost, by: admin, ports: ports)
            case .suspend:
                _ = try await SuspendEnrollment.suspend(
                    device.enrollment, chance.happens(percent: 40), by: admin, ports: ports)
            default:
                _ = try await WaiveWait.waive(
                    device.enrollment, device.certificate.fingerprint, by: admin, ports: ports)
            }
        }
    }

    mutating func makeUser(of maker: Client) async throws {
        let user = try await world.makeUser(of: maker)
        users.append(user)
    }

    /// Links a user to every client, which no operation does.
    func link(_ user: UserID) async throws {
        let clients = clients
        try await world.store.commit { stores in
            for client in clients where try stores.links.find(.id(user), of: client) == nil {
                _ = try stores.links.put(user, to: client, externalID: nil)
            }
        }
    }
}

/// What the operator does with clients.
extension ConsequenceScene {
    mutating func makeClient(waives: Bool) async throws {
        let request = CreateClient.Request(
            name: try ClientName("Client \(clients.count)"), rights: Set(Right.allCases),
            callbackURIs: [CallbackURI(stored: World.callback)], returnURIs: [ReturnURI(stored: Self.returnURI)],
            noticeURI: CallbackURI(stored: World.callback), basic: nil, waivesEnrollmentApproval: waives,
            coolingOff: 60, pinPolicy: try PINPolicy(["attempts": 3, "at_limit": waives ? "lock" : "remove"], at: ""),
            deviceLimit: try DeviceLimit(["max": 3, "at_limit": "replace"], at: ""))
        let made = try await CreateClient.create(request, by: admin, idempotency: nil, ports: world.ports)
        guard case .done(.created(let created)) = made else { throw World.Broken("client") }
        clients.append(created.client.id)
    }

    private mutating func performAsOperator(_ act: Act, _ acting: (Actor) -> Void) async throws {
        let ports = world.ports
        acting(admin)
        switch act {
        case .makeClient:
            guard clients.count < 4 else { return }
            return try await makeClient(waives: chance.happens(percent: 50))
        case .unlock:
            let locks = try await ListLocks.list(after: nil, limit: 10, ports: ports)
            guard case .locks(let found) = locks else { return }
            _ = try await EndLock.end(try any(found).challenge, by: admin, ports: ports)
            return
        case .setType:
            let type = try await world.store.read { [name = try named("plain")] in try $0.types.find(name) }
            guard let type else { return }
            _ = try await SetType.set(type, by: admin, ports: ports)
            return
        case .retry:
            _ = try await RetryMessage.retry(try any(abandoned), by: admin, ports: ports)
            return
        case .testMessage:
            let sender = try await anyClient()
            acting(sender.actor)
            guard let address = EmailAddress("somebody@example.com") else { return }
            _ = try await SendTestMessage.send(
                .test, to: .email(address), in: nil, by: sender.caller, idempotency: nil, ports: ports)
            return
        default: break
        }
        let id = try any(clients)
        switch act {
        case .updateClient:
            var changes = ClientChanges(rights: chance.happens(percent: 50) ? Set(Right.allCases) : nil)
            if chance.happens(percent: 50) {
                changes.notices = chance.happens(percent: 30) ? .removed : .set(CallbackURI(stored: World.callback))
            }
            _ = try await UpdateClient.update(id, changes, by: admin, ports: ports)
        case .disable: _ = try await DisableClient.disable(id, by: admin, ports: ports)
        case .enable:
            for id in clients { _ = try await EnableClient.enable(id, by: admin, ports: ports) }
        case .renewSecrets:
            _ = try await RenewClientSecret.renew(of: id, by: admin, ports: ports)
            _ = try await RenewCallbackSecret.renew(of: id, by: admin, ports: ports)
        default:
            guard clients.count > 2 else { return }
            _ = try await DeleteClient.delete(id, by: admin, ports: ports)
            clients.removeAll { $0 == id }
        }
    }

    /// Has everything delivered that is due, or given up, and makes up for users, links and devices that are gone.
    mutating func restock() async throws {
        let now = world.time.now
        for leased in try await world.store.lease(limit: 1000, now: now, until: now) {
            let isGivenUp = chance.happens(percent: 5)
            try await world.record(isGivenUp ? .abandoned("gone") : .delivered, of: leased.message, at: now)
            if isGivenUp { abandoned.append(leased.message.id) }
        }
        try await world.sql("DELETE FROM outbox WHERE state = 'delivered'")
        let (made, known, held) = (clients, users, phones)
        // A deletion that failed halfway has deleted the client.
        (clients, users, phones) = try await world.store.read { stores in
            (
                try made.filter { try stores.clients.find($0) != nil },
                try known.filter { try stores.users.find($0)?.deletedAt == nil },
                try held.filter { try stores.enrollments.find($0.device.enrollment)?.isPresent == true }
            )
        }
        if users.count < 3 { try await makeUser(of: try await anyClient()) }
        for user in users { try await link(user) }
        guard phones.count < 4, let maker = clients.first else { return }
        _ = try await EnableClient.enable(maker, by: admin, ports: world.ports)
        let user = try any(users)
        _ = try await UpdateUser.update(
            .id(user), UpdateUser.Changes(isEnrollmentBlocked: false), by: try await client(maker).caller,
            ports: world.ports)
        let device = try await world.makeDevice(of: user, by: try await client(maker))
        _ = try await WaiveWait.waive(
            device.enrollment, device.certificate.fingerprint, by: admin, ports: world.ports)
        phones.append(Phone(device: device))
    }
}
