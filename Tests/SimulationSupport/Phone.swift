import CountersignCore
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport

/// A user's phone, with real keys, sealed messages and signed requests, and with the user's habits.
final class Phone: @unchecked Sendable {
    /// The habit of the user.
    enum Habit: CaseIterable { case prompt, slow, denying, mistyping, forgetful, away }

    /// The data of one enrollment.
    final class Device: @unchecked Sendable {
        let holder: Holder
        let invitation: EnrollmentInvitation
        var certificate: Certificate
        var server: Certificate
        let since: Timestamp
        /// The keys of the PIN and of the biometric.
        var keys: [AnswerMethod: SigningKeyPair] = [:]
        /// Whether it can answer by the portal's custom authenticator.
        var hasPhrase = false
        /// The methods that are set but do not count yet, and when they will.
        var waiting: [AnswerMethod: Timestamp] = [:]
        var cursor: String?
        /// The wrong PINs in a row.
        var wrongPINs = 0
        /// The challenges that are being handled or were handled.
        var seen: Set<ChallengeID> = []

        var pin: SigningKeyPair? { keys[.pin] }

        init(_ holder: Holder, _ invitation: EnrollmentInvitation, server: Certificate, at now: Timestamp) {
            self.holder = holder
            since = now
            self.invitation = invitation
            certificate = holder.certificate
            self.server = server
        }

        var id: EnrollmentID { invitation.enrollment }
    }

    let name: String
    let habit: Habit
    let pushPath: String
    private(set) var device: Device?
    unowned let world: SimulatedWorld
    unowned let user: User
    private let time: SimulatedTime
    /// The correction of the clock that follows from the server's answers, in milliseconds.
    private var correction: Int64 = 0
    private var bell = Once<Void>()
    /// Whether a thief, who knows no PIN, has the phone.
    var isStolen = false
    /// Whether its user is changing a method, which can take a while where replies are lost.
    var isChanging = false

    /// Creates a phone.
    ///
    /// - Parameter isThiefs: whether it belongs to a thief, who approves no other device.
    init(_ number: Int, of user: User, in world: SimulatedWorld, isThiefs: Bool = false) {
        self.world = world
        self.user = user
        name = isThiefs ? "thief's phone \(number)" : "phone \(user.number).\(number)"
        habit = isThiefs ? .prompt : world.pick(Habit.allCases) ?? .prompt
        pushPath = Hex.encode((0..<16).map { _ in UInt8(world.draw(0...255)) })
        time = SimulatedTime(
            world.scheduler, offset: Int64(world.draw(0...180_000)) - 90_000, drift: Int64(world.draw(0...200)) - 100)
        isStolen = isThiefs
    }

    var now: Timestamp { Timestamp(milliseconds: time.now.milliseconds + correction) }

    /// Receives a push.
    func hear() { bell.end(.success(())) }

    // Life

    func begin() {
        world.scheduler.start { [self] in
            while !world.isCalm, !isStolen {
                do {
                    if device == nil { try await enroll() } else { try await look() }
                } catch {
                    await recover(from: error)
                }
            }
        }
    }

    /// Corrects the clock after an error about it, or waits after any other error.
    func recover(from error: any Error) async {
        switch error {
        case DeviceRefusal.clockSkew(let serverTime):
            correction += serverTime.milliseconds - now.milliseconds
        case DeviceRefusal.nonceReplayed: break
        case DeviceRefusal.deregistered(let notice):
            world.trace.note(name, "is removed: \(notice.reason?.rawValue ?? "")")
            device = nil
            try? await world.pause(.seconds(world.draw(1...600)))
        case DeviceRefusal.suspended: try? await world.pause(.seconds(60))
        case DeviceRefusal.unknownEnrollment:
            world.violate(3, "\(name) was told that it is enrolled, and is not known")
        case is Unanswered, StoreError.unavailable, is CancellationError:
            try? await world.pause(world.milliseconds(300...5000))
        default: world.violate(0, "\(name): \(error)")
        }
    }

    private func pause(_ seconds: ClosedRange<Int>) async { try? await world.pause(.seconds(world.draw(seconds))) }

    // Requests

    private func request(
        _ method: String, _ path: String, _ body: JSONValue?, keyID: String, _ key: P256.Signing.PrivateKey
    ) async throws -> DeviceRequest {
        let digest = body.map { ContentDigest.field(for: $0.encoded) }
        let signed = SignedRequest(
            method: method, targetURI: world.issuer.uri(path), contentDigest: digest, authorization: nil)
        let nonce = Hex.encode((0..<16).map { _ in UInt8(world.draw(0...255)) })
        let parameters = SignatureParameters(created: now.seconds, nonce: nonce, keyID: keyID)
        let (input, signature) = try await parameters.sign(signed, with: key)
        return DeviceRequest(
            signature: try UnverifiedRequestSignature(input: input, signature: signature), request: signed,
            body: body?.encoded ?? [])
    }

    /// Sends one signed request of this device.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path.
    ///   - body: the body.
    ///   - device: the device.
    ///   - changes: whether it changes something; a read counts once for each run of a node.
    ///   - waiting: how long the server may wait.
    ///   - work: what the server does.
    func call<Reply: Sendable>(
        _ method: String, _ path: String, _ body: JSONValue? = nil, by device: Device, changes: Bool = true,
        waiting: Duration = .zero,
        _ work: @escaping @Sendable (DeviceCall, Node.Services) async throws -> Reply
    ) async throws -> Reply {
        let request = try await request(
            method, path, body, keyID: "\(device.id)", device.holder.authenticationKey)
        let nonce = request.signature.parameters.nonce
        return try await Network(world: world).call(world.someNode(), waiting: waiting) { [world] services in
            let call = try await VerifyDevice.verify(request, ports: services.ports).get()
            let reply = try await work(call, services)
            // Only one of two copies of a message may be accepted.
            world.blame(world.ledger.use(changes ? nonce : "\(nonce) in \(services.run)", by: call.enrollment))
            return reply
        }
    }

    /// Repeats a call some times until it is answered.
    func repeated<Reply: Sendable>(_ body: () async throws -> Reply) async throws -> Reply {
        for _ in 0..<8 {
            do { return try await body() } catch {
                switch error {
                case DeviceRefusal.deregistered, DeviceRefusal.suspended, DeviceRefusal.unknownEnrollment: throw error
                default: await recover(from: error)
                }
            }
        }
        throw Unanswered()
    }

    // Enrolling

    private func enroll() async throws {
        await pause(1...30)
        let portals = world.portals.filter { user.id(at: $0) != nil }
        guard let portal = world.pick(portals), let invitation = await portal.ticket(for: user) else { return }
        _ = try await enroll(with: invitation)
    }

    /// Enrolls with a ticket.
    ///
    /// - Returns: whether it is now enrolled.
    func enroll(with invitation: EnrollmentInvitation) async throws -> Bool {
        let userID = DeviceKeys.userID(
            of: invitation.user, enrollment: invitation.enrollment, issuer: invitation.issuer)
        var holder = try await Holder(userID: userID, at: now.unixSeconds)
        for _ in 0..<8 {
            let outcome: EnrollDevice.Outcome
            let server: Certificate
            do {
                (outcome, server) = try await send(invitation, holder)
            } catch {
                await recover(from: error)
                continue
            }
            switch outcome {
            case .enrolled(let enrollment, let approval):
                guard enrollment.id == invitation.enrollment else {
                    world.violate(5, "\(name) is enrolled as another")
                    return false
                }
                world.trace.note(name, "is \(enrollment.id)\(approval == nil ? "" : ", and waits")")
                let device = Device(holder, invitation, server: server, at: now)
                self.device = device
                user.told[enrollment.id] = name
                if let number = approval?.number {
                    world.ledger.keepSecret(number.digits)
                    if !isStolen { user.approvals.append(number) }
                }
                // Some users set a PIN.
                if isStolen || world.happens(percent: 70) { try? await change(.pin, of: device) }
                if world.happens(percent: 20) { try? await useAgain(invitation, userID) }
                return true
            case .refused(let refusal): await recover(from: refusal)
            case .certificateInvalid:
                // The phone's clock was wrong when it made its keys.
                correction = world.now.milliseconds - time.now.milliseconds
                holder = try await Holder(userID: userID, at: now.unixSeconds)
            case .ticketUsed, .ticketInvalid, .ticketExpired, .tooManyDevices, .blocked, .pushTokenInUse,
                .alreadyEnrolled:
                world.trace.note(name, "is not enrolled: \(outcome.word)")
                return false
            }
        }
        return false
    }

    /// Tries a used ticket with other keys, as somebody does who has seen its code over the user's shoulder.
    private func useAgain(_ invitation: EnrollmentInvitation, _ userID: String) async throws {
        let (outcome, _) = try await send(invitation, try await Holder(userID: userID, at: now.unixSeconds))
        if case .enrolled = outcome { world.violate(5, "the ticket of \(invitation.enrollment) was used twice") }
    }

    private func send(
        _ invitation: EnrollmentInvitation, _ holder: Holder
    ) async throws -> (EnrollDevice.Outcome, Certificate) {
        guard let app = AppID("com.example.bank"),
            let push = PushRegistration(service: .local, app: app, token: Secret("9:\(pushPath)"))
        else { throw World.Broken("push registration") }
        let body = EnrollmentRequest(
            ticket: invitation.ticket, certificate: holder.certificate.encoded,
            device: DeviceDescription(name: try DisplayLine("Phone"), storage: .software),
            versions: [ChallengeBody.version], push: push
        ).json
        let request = try await request(
            "POST", "/v1/enrollments", body, keyID: "\(holder.certificate.fingerprint)", holder.authenticationKey)
        return try await Network(world: world).call(world.someNode()) { services in
            let parsed = try EnrollmentRequest(try JSONValue(parsing: request.body))
            let outcome = try await EnrollDevice.enroll(parsed, provedBy: request, ports: services.ports)
            return (outcome, try services.ports.keys.current().certificate)
        }
    }

    func seal(
        _ text: String, signedBy signer: SigningKeyPair? = nil, by device: Device
    ) async throws -> [UInt8] {
        try await EncryptedMessage.seal(
            .text(text), signedBy: signer ?? device.holder.primary,
            to: try device.server.key(for: .encrypt, at: now.unixSeconds).publicKey,
            intendedRecipient: device.server.fingerprint, at: now.unixSeconds)
    }

    // Answering

    /// Fetches the pending challenges, and waits a while for new ones.
    private func look() async throws {
        guard let device else { return }
        if habit == .away, world.happens(percent: 20) { await pause(60...1800) }
        if world.happens(percent: 1), !user.isAlone(self) { return try await leave(device) }
        if world.happens(percent: 3) {
            do { try await changeSomething(device) } catch is OpenPGPError {
                // By the phone's clock, the server's keys do not exist yet.
                correction = world.now.milliseconds - time.now.milliseconds
            }
        }
        let (cursor, waiting) = (device.cursor, world.draw(0...1) * 40)
        let outcome = try await call(
            "GET", "/v1/challenges", by: device, changes: false, waiting: .seconds(waiting)
        ) { call, services in
            let ports = services.ports
            let list =
                switch try await PendingChallenges.list(
                    for: call, waitingUntil: ports.time.now.adding(seconds: Int64(waiting)), since: cursor,
                    changes: ports.changes, ports: ports)
                {
                case .ended(let outcome): try outcome.told()
                case .waiting(let wait): try await wait.outcome(ports: ports).told()
                }
            return (list: list, certificate: try ports.keys.current().certificate)
        }
        device.cursor = outcome.list.cursor
        for entry in outcome.list.entries {
            guard device.seen.insert(entry.challenge).inserted else { continue }
            // The other half fetches, as after a push.
            let message = world.happens(percent: 50) ? entry.message : nil
            world.scheduler.start { [self] in
                do {
                    try await handle(entry.challenge, message.map { ($0, outcome.certificate) }, device)
                } catch {
                    device.seen.remove(entry.challenge)
                    device.cursor = nil
                }
            }
        }
        if waiting == 0 { try await rest() }
    }

    /// Waits for a push, or for half a minute.
    private func rest() async throws {
        bell = Once()
        let bell = bell
        world.scheduler.at(world.scheduler.elapsed + .seconds(world.draw(10...40))) { bell.end(.success(())) }
        try await withCheckedThrowingContinuation { bell.wait($0) }
    }

    func leave(_ device: Device) async throws {
        try await call("DELETE", "/v1/enrollments/self", by: device) {
            if case .refused(let refusal) = try await RemoveOwnEnrollment.remove(by: $0, ports: $1.ports) {
                throw refusal
            }
        }
        world.trace.note(name, "removes itself")
        self.device = nil
        await pause(1...60)
    }

    /// A challenge that the server has sealed, and the server's certificate.
    private typealias Sealed = (message: [UInt8], certificate: Certificate)

    /// Opens a challenge, which is fetched unless the list has brought it, and answers it.
    private func handle(_ id: ChallengeID, _ sealed: Sealed?, _ device: Device) async throws {
        let opened: ChallengeBody?
        if let sealed { opened = try await unseal(sealed, id, device) } else { opened = try await open(id, device) }
        guard let body = opened else { return }
        switch habit {
        case .prompt: try await world.pause(world.milliseconds(500...4000))
        case .slow, .away: await pause(5...100)
        case .denying, .mistyping, .forgetful: await pause(1...20)
        }
        guard var decision = decide(body, device) else { return }
        for _ in 0..<3 {
            guard try await answer(id, body, decision, device) else { return }
            // After a wrong PIN the user tries again, usually with the right one.
            decision = (decision.decision, habit != .forgetful && !world.happens(percent: 30))
        }
    }

    private func open(_ id: ChallengeID, _ device: Device) async throws -> ChallengeBody? {
        let outcome = try await repeated {
            try await call("GET", "/v1/challenges/\(id)", by: device) {
                let outcome = try await OpenChallenge.open(id, for: $0, ports: $1.ports)
                if case .refused(let refusal) = outcome { throw refusal }
                return (outcome, try $1.ports.keys.current().certificate)
            }
        }
        switch outcome.0 {
        case .alreadyEnded(let status):
            tell(id, status)
            return nil
        case .notFound, .refused: return nil
        case .message(let message): return try await unseal((message, outcome.1), id, device)
        }
    }

    private func unseal(_ sealed: Sealed, _ id: ChallengeID, _ device: Device) async throws -> ChallengeBody? {
        // The phone fetches a key that it does not know, as the SDK does.
        device.server = sealed.certificate
        let opened = try await EncryptedMessage.open(
            sealed.message, with: device.holder.encryption, signers: device.server.keys,
            intendedRecipient: device.certificate.fingerprint, now: now.adding(seconds: 4000).unixSeconds)
        let body = try ChallengeBody(try JSONValue(parsing: opened.content))
        guard body.enrollment == device.id, body.user == device.invitation.user else {
            world.violate(2, "\(name) was put \(id), which is another's")
            return nil
        }
        return body
    }

    /// The decision of the user, and whether an entered PIN is right; nil for no answer.
    private func decide(_ body: ChallengeBody, _ device: Device) -> (decision: Decision, isRight: Bool)? {
        if habit == .denying, world.happens(percent: 40) {
            return (world.happens(percent: 25) ? .reported : .denied, true)
        }
        var number: EntryNumber?
        if body.numberEntry != nil {
            number = user.screen[body.question.challenge] ?? user.approvals.last
            // The user did not begin this.
            guard number != nil else { return (.denied, true) }
            if habit == .mistyping, world.happens(percent: 20) {
                number = EntryNumber(value: UInt32(world.draw(0...999_999)))
            }
        }
        let methods = body.methods.filter { method in
            guard device.waiting[method].map({ $0 <= now }) ?? true else { return false }
            if case .custom = method { return device.hasPhrase }
            return method == .confirm || device.keys[method] != nil
        }
        guard let method = world.pick(methods) else { return nil }
        let isRight =
            switch habit {
            case .mistyping: world.happens(percent: 60)
            case .forgetful: false
            default: true
            }
        return (.approved(method, number: number), isRight)
    }

    /// Sends an answer, and repeats the same bytes until there is a reply.
    ///
    /// - Returns: whether the PIN was wrong and can be entered again.
    private func answer(
        _ id: ChallengeID, _ body: ChallengeBody, _ decided: (decision: Decision, isRight: Bool), _ device: Device
    ) async throws -> Bool {
        var signer: SigningKeyPair?
        var data: [UInt8]?
        switch decided.decision {
        case .approved(.pin, _):
            signer =
                decided.isRight ? device.pin : SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now.unixSeconds)
        case .approved(.biometric, _): signer = device.keys[.biometric]
        case .approved(.custom, _): data = try await phrase(by: device)
        default: break
        }
        let receipt = Receipt(
            of: body.question, user: body.user, device: device.certificate.fingerprint, decision: decided.decision,
            customDataHash: data.map { Array(SHA256.hash(data: $0)) }, answeredAt: now)
        if case .approved = decided.decision { world.ledger.signed[id] = body.question.details }
        let sent = AnswerRequest(
            message: try await seal(receipt.text, signedBy: signer, by: device), customData: data
        ).json
        let (outcome, server) = try await repeated {
            try await call("POST", "/v1/challenges/\(id)/answer", sent, by: device) {
                let outcome = try await AnswerChallenge.answer(
                    try AnswerRequest(sent), to: id, by: $0, ports: $1.ports)
                if case .refused(let refusal) = outcome { throw refusal }
                return (outcome, try $1.ports.keys.current().certificate)
            }
        }
        device.server = server
        switch outcome {
        case .decided(let reply):
            if case .approved(.pin, _) = decided.decision { device.wrongPINs = 0 }
            tell(id, reply.status)
            if let sealed = reply.returnMessage { try await goBack(with: sealed, device) }
        case .alreadyEnded(let status): tell(id, status)
        case .pinIncorrect(let left):
            typedWrongly(device, left: left)
            return left > 0
        case .customRetry(let reply):
            world.trace.note(name, "is asked for its phrase again: \(reply.attemptsLeft)")
            return reply.attemptsLeft > 0
        case .customFailed, .customNotRegistered:
            world.trace.note(name, "has no phrase any more")
            device.hasPhrase = false
        case .refused, .notFound, .invalid, .pinLocked, .customUnavailable, .rateLimited:
            world.trace.note(name, "is not heard about \(id): \(outcome.word)")
        }
        return false
    }

    private func tell(_ id: ChallengeID, _ status: ChallengeStatus) {
        world.trace.note(name, "\(id): \(status.state) \(status.reason ?? "")")
        // The approval of a link counts only after its return code was presented.
        if status.state == "approved", user.opened[id] != nil { return }
        world.tell(name, of: id, Ledger.Told(state: status.state, reason: status.reason))
    }

    /// Presents a code from a screen.
    func claim(_ code: ChallengeCode) async throws {
        guard let device else { return }
        let outcome = try await repeated {
            try await call("POST", "/v1/challenges/claim", by: device) {
                let outcome = try await ClaimChallenge.claim(code, by: $0, ports: $1.ports)
                if case .refused(let refusal) = outcome { throw refusal }
                return outcome
            }
        }
        world.trace.note(name, "presents a code of \(code.challenge): \(outcome)")
        device.cursor = nil
        hear()
    }

    // A thief

    /// Removes its enrollment, without a PIN.
    func removeItself() async throws {
        guard let device else { return }
        try await leave(device)
    }

    /// Approves all pending challenges by confirmation only.
    func sayYes() async throws {
        guard let device else { return }
        let outcome = try await repeated {
            try await call("GET", "/v1/challenges", by: device, changes: false) {
                try await PendingChallenges.list(for: $0, ports: $1.ports).told()
            }
        }
        for id in outcome.entries.map(\.challenge) {
            guard let body = try await open(id, device) else { continue }
            _ = try await answer(id, body, (.approved(.confirm, number: user.thiefsNumber), true), device)
        }
    }
}

extension PendingChallenges.Outcome {
    /// The list of challenges.
    ///
    /// - Throws: ``DeviceRefusal``.
    fileprivate func told() throws -> (entries: [PendingEntry], cursor: String) {
        switch self {
        case .list(let entries, let cursor): return (entries, cursor)
        case .refused(let refusal): throw refusal
        }
    }
}

extension EnrollDevice.Outcome {
    var word: String { "\(self)".prefix { $0.isLetter }.description }
}

extension AnswerChallenge.Outcome {
    var word: String { "\(self)".prefix { $0.isLetter }.description }
}
