import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// A user with phones, some of them in a thief's hands, and everything that the thief, the owner and the operator can
/// do, on a real store. Spec: docs/decisions/0046-approval-of-devices.md.
struct ThiefScene {
    /// How it begins: for each phone whether a PIN is set on it, and whether the thief holds it.
    struct Beginning: Sendable {
        var phones: [(hasPIN: Bool, isStolen: Bool)]
        /// The first phone is the thief's own, with a PIN that they know, and is suspended.
        var isSuspended = false

        static let all = [
            Beginning(phones: [(false, true)]), Beginning(phones: [(true, true)]),
            Beginning(phones: [(false, true), (true, false)]), Beginning(phones: [(true, true), (false, false)]),
            Beginning(phones: [(true, false)]), Beginning(phones: [(true, true)], isSuspended: true),
        ]
    }

    /// A phone, and what its holder knows.
    struct Phone {
        let device: TestDevice
        let isStolen: Bool
        /// The PIN's key that its holder set, or knows; nil where they know none.
        var pin: SigningKeyPair?
        /// The PIN's key that the owner set at the beginning; everybody may know its public half, from a receipt.
        var ownersPIN: SigningKeyPair?
        /// The PIN's key of the thief's, and not of the beginning.
        var planted: SigningKeyPair?
        /// The biometric's key, which is always of the thief's.
        var biometric: SigningKeyPair?
        var hasCustom = false
    }

    static let custom = "phrase"
    /// The wait of the beginning: the longest of the two clients'.
    static let wait: Int64 = 604_800

    let world: World
    let shop: Client
    let bank: Client
    let owner: UserID
    let beginning: Beginning
    var named: UserID
    var phones: [Phone] = []
    var first: Timestamp?
    var isResumed = false
    var log: [String] = []

    init(_ beginning: Beginning, replaces: Bool = false, engine: Engine = .chosen, seed: UInt64 = 1) async throws {
        let world = try await World(engine, seed: seed)
        let ports = world.ports
        try await world.makeType(numberEntry: false, methods: [.confirm, .pin])
        guard let authenticator = AuthenticatorName("phrase") else { throw World.Broken("name") }
        let phrase = CustomAuthenticator(
            name: authenticator, hook: CallbackURI(stored: "https://shop.example.com/phrase"), attempts: 3)
        let made = try await world.makeClient("Shop", authenticators: [phrase]).client
        let bank = try await world.makeClient("Bank").client
        var changes = ClientChanges(coolingOff: 60)
        if replaces { changes.devices = .set(DeviceLimit(maximum: 3, replacesOldest: true)) }
        _ = try await UpdateClient.update(made.id, changes, by: made.actor, ports: ports)
        _ = try await UpdateClient.update(
            bank.id, ClientChanges(coolingOff: Seconds(Self.wait)), by: bank.actor, ports: ports)
        let updated = try await world.store.read { try $0.clients.find(made.id) }
        guard let shop = updated else { throw World.Broken("client") }
        let owner = try await world.makeUser("customer-1", of: shop)
        let name = try ExternalID("account-1")
        guard try await world.store.commit({ try $0.links.put(owner, to: bank.id, externalID: name) }) else {
            throw World.Broken("link")
        }
        var phones: [Phone] = []
        for (hasPIN, isStolen) in beginning.phones {
            let device = try await TestDevice(try await world.makeTicket(for: owner, by: shop), in: world)
            _ = try await device.enroll()
            _ = try await WaiveWait.waive(
                device.enrollment, device.certificate.fingerprint, by: shop.actor, ports: ports)
            var phone = Phone(device: device, isStolen: isStolen)
            if hasPIN {
                let key = try await device.setPIN()
                phone.ownersPIN = key
                if beginning.isSuspended || !isStolen { phone.pin = key }
            }
            phones.append(phone)
        }
        world.time.advance(seconds: 3 * Self.wait)
        if beginning.isSuspended {
            _ = try await SuspendEnrollment.suspend(phones[0].device.enrollment, true, by: shop.actor, ports: ports)
        }
        self.world = world
        self.shop = shop
        self.bank = bank
        self.owner = owner
        self.beginning = beginning
        named = owner
        self.phones = phones
    }

    /// What the server has of a phone.
    func enrollment(_ index: Int) async throws -> Enrollment {
        let id = phones[index].device.enrollment
        return try #require(try await world.store.read { try $0.enrollments.find(id) })
    }

    func isPresent(_ index: Int) async throws -> Bool { try await enrollment(index).isPresent }

    mutating func begins() { if first == nil { first = world.time.now } }

    /// What has gone wrong, or nil: something of the thief's counts before the wait of the beginning is over.
    func fault() async throws -> String? {
        let now = world.time.now
        guard let first, now < first.adding(seconds: Self.wait), !(beginning.isSuspended && isResumed) else {
            return nil
        }
        for (index, phone) in phones.enumerated() {
            let enrollment = try await enrollment(index)
            guard enrollment.isLetIn(at: now) else { continue }
            if let planted = phone.planted, enrollment.pin?.key.fingerprint == planted.publicKey.fingerprint,
                enrollment.usableMethods(at: now).contains(.pin)
            {
                return "a PIN of the thief's counts on #\(index)"
            }
            if let planted = phone.biometric, enrollment.biometric?.key?.fingerprint == planted.publicKey.fingerprint,
                enrollment.usableMethods(at: now).contains(.biometric)
            {
                return "a biometric of the thief's counts on #\(index)"
            }
            if phone.hasCustom,
                enrollment.usableMethods(at: now).contains(where: { !AnswerMethod.standard.contains($0) })
            {
                return "a custom authenticator of the thief's counts on #\(index)"
            }
            if phone.isStolen, index >= beginning.phones.count, beginning.phones.contains(where: \.hasPIN) {
                return "#\(index), a phone of the thief's, counts, though the owner had a method"
            }
        }
        return nil
    }
}

/// What the thief does, with one phone unlocked, phones of their own, and the app's session, which asks for tickets and
/// removals.
extension ThiefScene {
    mutating func removesItself(_ index: Int) async throws {
        begins()
        guard let call = try? await phones[index].device.call() else { return }
        _ = try await RemoveOwnEnrollment.remove(by: call, ports: world.ports)
    }

    mutating func clientRemoves(_ index: Int) async throws {
        begins()
        let user = try await enrollment(index).user
        _ = try await RemoveEnrollment.remove(
            phones[index].device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
    }

    /// Enrolls one more phone, and sets a PIN on it.
    mutating func enrolls(asNamed isNamed: Bool) async throws {
        begins()
        guard let ticket = try? await world.makeTicket(for: isNamed ? named : owner, by: shop) else { return }
        let device = try await TestDevice(ticket, in: world)
        guard case .enrolled = try await device.enroll() else { return }
        var phone = Phone(device: device, isStolen: true)
        if let key = try? await device.setPIN() {
            phone.pin = key
            phone.planted = key
        }
        phones.append(phone)
    }

    /// Sets a first PIN on a phone in use, with a ticket.
    mutating func setsPIN(_ index: Int) async throws {
        begins()
        guard phones[index].isStolen, let ticket = try? await makeTicket(on: index) else { return }
        let key = phones[index].device.newPINKey()
        guard var change = try? await PINChange(of: phones[index].device, to: key) else { return }
        change.ticket = ticket
        guard case .changed = try await change.send() else { return }
        phones[index].pin = key
        phones[index].planted = key
    }

    /// Registers a first biometric on a phone in use, with a ticket and whatever PIN they know.
    mutating func registersBiometric(_ index: Int) async throws {
        begins()
        guard phones[index].isStolen, let ticket = try? await makeTicket(on: index) else { return }
        let key = phones[index].device.newPINKey()
        guard var change = try? await PINChange(of: phones[index].device, to: key) else { return }
        change.method = .biometric
        change.authorizer = phones[index].pin
        change.ticket = ticket
        guard case .changed = try await change.send() else { return }
        phones[index].biometric = key
    }

    /// Says something else of a phone, which changes nothing of what counts.
    func describes(_ index: Int) async throws {
        guard let call = try? await phones[index].device.call() else { return }
        let labels = DeviceLabels(name: try DisplayLine("Owner's phone"), model: nil)
        _ = try await UpdateEnrollment.update(EnrollmentUpdate(device: labels), by: call, ports: world.ports)
    }

    /// Takes a PIN off that they do not know, with a ticket.
    mutating func takesPINOff(_ index: Int) async throws {
        begins()
        guard phones[index].isStolen, phones[index].pin == nil, let known = phones[index].ownersPIN,
            let ticket = try? await makeTicket(on: index)
        else { return }
        guard var change = try? await PINChange(of: phones[index].device, from: known, to: nil) else { return }
        change.authorizer = nil
        change.ticket = ticket
        let outcome = try await change.send()
        #expect(outcome.summary != "changed")
    }

    mutating func registersCustom(_ index: Int) async throws {
        begins()
        guard phones[index].isStolen, let ticket = try? await makeTicket(on: index) else { return }
        let device = phones[index].device
        guard let nonce = try? await device.methods().nonce, let name = AuthenticatorName(Self.custom) else { return }
        let data = try await device.sealed("correct horse")
        let change = AuthenticatorChange(
            ChangeHeader(issuer: world.ports.issuer, enrollment: device.enrollment, nonce: nonce), name: name,
            customDataHash: Array(SHA256.hash(data: data)))
        world.hooks.say(HookVerdict(.ok))
        let outcome = try await device.send(
            MethodChangeRequest(message: try await device.seal(change.text), customData: data, ticket: ticket))
        guard case .changed = outcome else { return }
        phones[index].hasCustom = true
    }

    /// Says yes on one phone to another one, by the strongest that its holder has.
    mutating func letsIn(_ index: Int, _ other: Int) async throws {
        begins()
        let made = try await enrollment(other)
        guard index != other, phones[index].isStolen, made.isPresent else { return }
        guard let id = made.approval, let question = try await world.store.read({ try $0.challenges.find(id) }) else {
            return
        }
        let device = phones[index].device
        guard (try? await device.open(id)) != nil else { return }
        let number = world.ports.hasher.approvalNumber(of: id)
        let signers: [(AnswerMethod, SigningKeyPair?)] = [(.pin, phones[index].pin), (.confirm, device.primary)]
        for (method, key) in signers {
            guard let key else { continue }
            let receipt = Receipt(
                of: question.question, user: made.user, device: device.certificate.fingerprint,
                decision: .approved(method, number: number), answeredAt: world.time.now)
            guard case .decided = try await device.answer(id, with: try await device.seal(receipt.text, signedBy: key))
            else { continue }
            return
        }
    }

    /// Suspends, resumes or removes one phone by another.
    mutating func acts(_ kind: DeviceAct.Kind, by index: Int, on other: Int) async throws {
        begins()
        guard index != other, phones[index].isStolen else { return }
        try await act(kind, by: index, on: other)
    }

    /// Acts by one phone on another, with the signature of whatever PIN its holder knows.
    private func act(_ kind: DeviceAct.Kind, by index: Int, on other: Int) async throws {
        guard let call = try? await phones[index].device.call() else { return }
        var authorization: [UInt8]?
        if let key = phones[index].pin, let nonce = try? await phones[index].device.methods().nonce {
            let act = DeviceAct(
                issuer: world.ports.issuer, enrollment: phones[index].device.enrollment, nonce: nonce, kind: kind,
                device: phones[other].device.enrollment)
            authorization = try await phones[index].device.seal(act.text, signedBy: key)
        }
        _ = try await ActOnDevice.act(
            kind, on: phones[other].device.enrollment, authorization, by: call, ports: world.ports)
    }

    /// A client unlinks the user, and makes the external id anew.
    mutating func makesAnew() async throws {
        begins()
        guard named == owner else { return }
        _ = try await UnlinkUser.unlink(.id(owner), from: shop.caller, ports: world.ports)
        named = try await world.makeUser("customer-1", of: shop)
    }

    /// The client with the longest wait unlinks the user.
    mutating func unlinksBank() async throws {
        begins()
        _ = try await UnlinkUser.unlink(.id(owner), from: bank.caller, ports: world.ports)
    }

    /// Removes the phone and enrolls another one, both at once.
    mutating func removesAndEnrollsAtOnce(_ index: Int) async throws {
        begins()
        guard let ticket = try? await world.makeTicket(for: named, by: shop),
            let call = try? await phones[index].device.call()
        else { return }
        let device = try await TestDevice(ticket, in: world)
        let ports = world.ports
        async let removal = RemoveOwnEnrollment.remove(by: call, ports: ports)
        async let enrolling = device.enroll()
        _ = try await removal
        guard case .enrolled = try await enrolling else { return }
        phones.append(Phone(device: device, isStolen: true))
    }

    private func makeTicket(on index: Int) async throws -> Secret<String> {
        try await world.makeTicket(for: phones[index].device.invitation.user, by: shop).ticket
    }
}

/// What owner and operator do at any time, which must open nothing.
extension ThiefScene {
    /// The owner removes a phone: by one of their own, with its PIN, or as the account page does.
    ///
    /// What is left behind counts from here on. So the wait that is checked begins here, if it has not begun before.
    mutating func ownerRemoves(_ index: Int, onPage: Bool) async throws {
        begins()
        let own = phones.firstIndex { !$0.isStolen }
        if let own, !onPage {
            if own == index { try await removesItself(own) } else { try await act(.remove, by: own, on: index) }
            return
        }
        let removed = try await enrollment(index)
        let user = Actor.user(removed.user)
        _ = try await RemoveEnrollment.remove(removed.id, because: .account, by: user, ports: world.ports)
        let isThere = try await isPresent(index)
        #expect(!isThere, "\(log.joined(separator: ", "))")
    }

    /// One phone undoes a method of another one, or its own: a phone of the thief's or of the owner's.
    ///
    /// A phone that is let in undoes what waits on a phone of the same user. Nothing else is undone.
    ///
    /// - Parameters:
    ///   - draw: which of the methods that wait.
    ///   - index: the phone that undoes.
    ///   - other: the phone that has the method.
    mutating func undoes(_ draw: Int, by index: Int, on other: Int) async throws {
        if phones[index].isStolen { begins() }
        guard let call = try? await phones[index].device.call() else { return }
        let now = world.time.now
        let caller = try await enrollment(index)
        let before = try await enrollment(other)
        let waiting = before.waiting(at: now)
        let method = waiting.isEmpty ? AnswerMethod.pin : waiting[draw % waiting.count].method
        let mayUndo = !waiting.isEmpty && before.isPresent && caller.isLetIn(at: now) && caller.user == before.user
        let outcome = try await UndoMethod.undo(method, of: before.id, by: call, ports: world.ports)
        #expect((outcome == .undone) == mayUndo, "\(log.joined(separator: ", "))")
        let left = try await enrollment(other).methods
        #expect(left == before.methods.filter { !mayUndo || $0 != method }, "\(log.joined(separator: ", "))")
        // Its holder has a PIN no more; what the thief planted is looked for all the same.
        if mayUndo, method == .pin { phones[other].pin = nil }
    }

    /// The operator declares a phone lost; what it leaves behind counts from here on, as with ``ownerRemoves(_:onPage:)``.
    mutating func declaresLost(_ index: Int) async throws {
        begins()
        _ = try await RemoveEnrollment.remove(
            phones[index].device.enrollment, because: .lost, by: shop.actor, ports: world.ports)
    }

    mutating func suspends(_ index: Int, _ isSuspended: Bool) async throws {
        if !isSuspended { isResumed = true }
        _ = try await SuspendEnrollment.suspend(
            phones[index].device.enrollment, isSuspended, by: shop.actor, ports: world.ports)
    }

    /// What a phone does to a new one of the owner's that waits.
    enum Undoing: CaseIterable {
        /// It undoes the PIN.
        case method
        /// It removes the device.
        case device
    }

    /// The owner says yes to a new phone of their own, and at the same moment a phone undoes what waits.
    ///
    /// One of the two comes first, and all that is stored afterwards says which.
    ///
    /// - Parameters:
    ///   - undoing: what is undone.
    ///   - index: the phone that undoes: the one that says yes, or another one of the owner's or of the thief's.
    mutating func ownerSaysYes(beside undoing: Undoing, by index: Int) async throws {
        if phones[index].isStolen { begins() }
        guard let own = try await ownersPhone(), let call = try? await phones[index].device.call(),
            let made = try await ownerEnrolls(), let id = made.approval,
            let question = try await world.store.read({ try $0.challenges.find(id) })
        else { return }
        let (approver, ports) = (own.device, world.ports)
        let records = try await world.count("left_behind")
        try await approver.open(id)
        let pin = question.methods.contains(.pin) ? own.pin : nil
        let yes = Decision.approved(pin == nil ? .confirm : .pin, number: ports.hasher.approvalNumber(of: id))
        let receipt = try await approver.receipt(of: question, yes, signedBy: pin)
        async let answered = approver.answer(id, with: receipt)
        let isUndone: Bool
        switch undoing {
        case .method: isUndone = try await UndoMethod.undo(.pin, of: made.id, by: call, ports: ports) == .undone
        case .device: isUndone = try await ActOnDevice.act(.remove, on: made.id, nil, by: call, ports: ports) == .done
        }
        var isLetIn = false
        if case .decided = try await answered { isLetIn = true }
        // What is left behind counts from here on, and so does the wait that is checked.
        let added = try await world.count("left_behind") - records
        if added > 0 { begins() }
        let last = phones.count - 1
        let kept = try await enrollment(last)
        if kept.pin == nil { phones[last].pin = nil }
        #expect(kept.isPresent == !(undoing == .device && isUndone), "\(log.joined(separator: ", "))")
        let isOpen = try await world.store.read { try $0.challenges.find(id)?.state == .pending }
        #expect(isOpen == (kept.isPresent && !isLetIn), "\(log.joined(separator: ", "))")
        let now = world.time.now
        var waits = 0
        if kept.isPresent {
            #expect(kept.counts(at: now) == isLetIn, "\(log.joined(separator: ", "))")
            #expect((kept.pin == nil) == isUndone, "\(log.joined(separator: ", "))")
            let hasPIN = isLetIn && pin != nil && !isUndone
            #expect(kept.counts(.pin, at: now) == hasPIN, "\(log.joined(separator: ", "))")
            waits = kept.waiting(at: now).count + (isLetIn ? 0 : 1)
        }
        let announced = try await world.count("waits", where: "enrollment_id = '\(made.id)'")
        #expect(announced == Int64(waits), "\(log.joined(separator: ", "))")
    }

    /// The owner enrolls a phone of their own, and sets a PIN on it; nil if that is refused.
    private mutating func ownerEnrolls() async throws -> Enrollment? {
        guard let ticket = try? await world.makeTicket(for: owner, by: shop) else { return nil }
        let device = try await TestDevice(ticket, in: world)
        guard case .enrolled(let made, _) = try await device.enroll() else { return nil }
        let key = try await device.setPIN()
        phones.append(Phone(device: device, isStolen: false, pin: key))
        return made
    }

    /// The first phone of the owner's that is let in.
    private func ownersPhone() async throws -> Phone? {
        for (index, phone) in phones.enumerated() where !phone.isStolen {
            let isLetIn = try await enrollment(index).isLetIn(at: world.time.now)
            if isLetIn { return phone }
        }
        return nil
    }

    /// The owner says no to a phone while the thief says yes to it.
    mutating func answersAtOnce(_ index: Int, _ other: Int) async throws {
        let made = try await enrollment(other)
        guard let id = made.approval, let question = try await world.store.read({ try $0.challenges.find(id) }),
            let owned = phones.first(where: { !$0.isStolen }), (try? await owned.device.open(id)) != nil
        else { return try await letsIn(index, other) }
        let denial = try await owned.device.receipt(of: question, .denied)
        async let answer = owned.device.answer(id, with: denial)
        try await letsIn(index, other)
        _ = try await answer
    }
}
