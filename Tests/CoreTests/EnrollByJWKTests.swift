import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Enrolling by JWKs")
struct EnrollByJWKTests {
    /// A client, which waives no waits unless it is said, with a user.
    private func scene(
        _ engine: Engine = .chosen, waives: Bool = false
    ) async throws -> (world: World, shop: Client, user: UserID) {
        let world = try await World(engine)
        let shop = try await world.makeClient(waives: waives).client
        return (world, shop, try await world.makeUser(of: shop))
    }

    private func find(_ id: EnrollmentID, in world: World) async throws -> Enrollment {
        try #require(try await world.store.read { try $0.enrollments.find(id) })
    }

    @Test(
        "A user's first device is enrolled, with its keys, and counts at once with the user's biometric",
        arguments: Engine.allCases, TestJWKDevice.Kind.allCases)
    func enrolls(_ engine: Engine, _ kind: TestJWKDevice.Kind) async throws {
        let (world, shop, user) = try await scene(engine)
        let device = try TestJWKDevice(
            try await world.makeTicket(for: user, by: shop), in: world, kind, verifies: true)
        guard case .enrolled(let made, nil) = try await device.enroll() else {
            Issue.record("not enrolled")
            return
        }
        let (again, keys) = (try await world.reopened(), try device.keys)
        for kept in [try await find(device.enrollment, in: world), try await find(device.enrollment, in: again)] {
            #expect(kept == made && kept.user == user && kept.client == shop.id && kept.state == .active)
            #expect(kept.jwks?.json == keys.json && kept.keys == nil && !kept.signsReceipts)
            #expect(kept.fingerprint == keys.fingerprint && kept.device.name.text == "Other phone")
            #expect(kept.usableMethods(at: world.time.now) == [.confirm, .biometric] && kept.versions.isEmpty)
            #expect(kept.guards(at: world.time.now), "the user's biometric guards")
        }
        #expect(try await world.count("device_keys", where: "enrollment_id = '\(device.enrollment)'") == 2)
        #expect(try await world.count("waits") == 0)
        let kinds = try await world.audit().map(\.kind)
        #expect(kinds.contains(.enrollmentCreated) && kinds.contains(.methodChanged))
    }

    @Test("A further device waits as every device does, and a phone of ours lets it in; the biometric waits on")
    func waits() async throws {
        let (world, shop, user) = try await scene()
        let phone = try await world.makeDevice(of: user, by: shop)
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        guard case .enrolled(let made, let approval?) = try await device.enroll(), let question = made.approval,
            let number = approval.number
        else {
            Issue.record("it does not wait")
            return
        }
        let end = world.time.now.adding(Client.standardCoolingOff)
        #expect(made.countsFrom == end && made.biometric?.countsFrom == end && approval.expiresAt == end)
        #expect(try await world.count("waits", where: "enrollment_id = '\(device.enrollment)'") == 2)
        let asked = try #require(try await world.store.read { try $0.challenges.find(question) })
        #expect(asked.question.details.contains { $0.value.text == "\(made.fingerprint)" })
        try await phone.open(question)
        let receipt = try await phone.receipt(of: asked, .approved(.confirm, number: number))
        #expect(try await phone.answer(question, with: receipt).summary == "decided approved -")
        let letIn = try await find(device.enrollment, in: world)
        #expect(letIn.usableMethods(at: world.time.now) == [.confirm], "a tap lets no method in")
        #expect(letIn.usableMethods(at: end) == [.confirm, .biometric])
    }

    @Test("It says yes to no other device: where it is the only one, nobody is asked, and the wait runs")
    func saysNoYes() async throws {
        let (world, shop, user) = try await scene()
        _ = try await world.makeJWKDevice(of: user, by: shop)
        let phone = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        guard case .enrolled(let made, let approval?) = try await phone.enroll() else {
            Issue.record("the phone does not wait")
            return
        }
        #expect(approval.number == nil && made.approval == nil)
        #expect(made.countsFrom == world.time.now.adding(Client.standardCoolingOff))
        #expect(try await world.count("challenges") == 0)
    }

    @Test("Where a token has removed the biometric, and then the device, a third one still needs a method")
    func guardsOn() async throws {
        let (world, shop, user) = try await scene()
        let phone = try await world.makeDevice(of: user, by: shop)
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        _ = try await device.enroll()
        world.time.advance(seconds: Client.standardCoolingOff.value)
        let owner = DeviceOwner(user: user, client: shop, scopes: [Ticket.scope], device: nil)
        let ended = try await ChangeAppBiometric.remove(of: device.enrollment, by: owner, ports: world.ports)
        #expect(ended == .changed)
        // The device has no biometric by now: its record must not replace the one that the biometric left.
        let removed = try await RemoveEnrollment.remove(
            device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
        #expect(removed == .removed)
        let third = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        guard case .enrolled(let made, .some) = try await third.enroll(), let question = made.approval else {
            Issue.record("nobody is asked")
            return
        }
        let challenge = try #require(try await world.store.read { try $0.challenges.find(question) })
        #expect(try await world.store.read { try $0.targets.all(of: question) } == [phone.enrollment])
        #expect(challenge.methods == [.pin, .biometric])
    }

    @Test("With a phone of ours, only that one is asked about a third device, and must prove a method")
    func guarded() async throws {
        let (world, shop, user) = try await scene()
        let phone = try await world.makeDevice(of: user, by: shop)
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        _ = try await device.enroll()
        world.time.advance(seconds: Client.standardCoolingOff.value)
        let third = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        guard case .enrolled(let made, .some) = try await third.enroll(), let question = made.approval else {
            Issue.record("nobody is asked")
            return
        }
        let challenge = try #require(try await world.store.read { try $0.challenges.find(question) })
        #expect(try await world.store.read { try $0.targets.all(of: question) } == [phone.enrollment])
        #expect(challenge.methods == [.pin, .biometric] && challenge.needsReceipt)
        try await world.sql(
            """
            INSERT INTO challenge_targets (challenge_id, enrollment_id)
            VALUES ('\(question)', '\(device.enrollment)')
            """)
        let token = try await device.token(for: challenge, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(try await device.answer(question, with: token) == .invalid(.credential))
        // A type that such devices may answer, if questions about new devices had one, makes no difference.
        let enrollment = try await find(device.enrollment, in: world)
        let keys = try #require(enrollment.jwks)
        let tap = try await world.makeWeakType(methods: [.biometric])
        let answer = try JWTAnswer(token, by: keys)
        let verdict = JWTVerifier(
            challenge: challenge, type: tap, enrollment: enrollment, keys: keys, issuer: world.ports.issuer,
            now: world.time.now
        ).verify(answer, token)
        guard enrollment.satisfies(tap), case .invalid(.credential) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(try await find(third.enrollment, in: world).counts(at: world.time.now) == false)
    }

    @Test("A key is enrolled once, by whomever, for whatever purpose, and not again after its removal")
    func keyOnce() async throws {
        let (world, shop, user) = try await scene(waives: true)
        let device = try await world.makeJWKDevice(of: user, by: shop, verifies: true)
        let other = try await world.makeUser(of: shop)
        let verification = try #require(device.verification)
        func enroll(_ possession: PrivateJWK, _ verification: PrivateJWK? = nil) async throws -> String {
            let ticket = try await world.makeTicket(for: other, by: shop)
            let thief = try TestJWKDevice(ticket, in: world, possession: possession)
            let keys = try DeviceJWKs(
                proofOfPossession: possession.publicKey.json, userVerification: verification?.publicKey.json)
            return try await thief.enroll(keys: keys).summary
        }
        let fresh = try TestJWKDevice.Kind.p256.key(named: "fresh")
        #expect(try await enroll(device.possession) == "already enrolled")
        #expect(try await enroll(verification) == "already enrolled")
        #expect(try await enroll(fresh, device.possession) == "already enrolled")
        #expect(try await enroll(fresh, verification) == "already enrolled")
        _ = try await RemoveEnrollment.remove(
            device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
        #expect(try await enroll(device.possession) == "already enrolled")
        #expect(try await world.count("enrollments") == 1)
        #expect(try await enroll(fresh).hasPrefix("enrolled"))
    }

    @Test("Tickets count as for every device; the same keys sent again get the same enrollment, others none")
    func tickets() async throws {
        let (world, shop, user) = try await scene()
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        #expect(try await device.enroll(ticket: Secret("")).summary == "ticket invalid")
        for _ in 0..<2 { #expect(try await device.enroll().summary == "enrolled \(device.enrollment)") }
        let thief = try TestJWKDevice(device.invitation, in: world)
        #expect(try await thief.enroll().summary == "ticket used")
        #expect(try await device.enroll(keys: try device.keys.withoutUserVerification).summary == "ticket used")
        let phone = try await TestDevice(device.invitation, in: world)
        #expect(try await phone.enroll().summary == "ticket used")
        let late = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world)
        world.time.advance(seconds: 600)
        #expect(try await late.enroll().summary == "ticket expired")
        #expect(try await world.count("enrollments") == 1)
        #expect(try await world.audit().filter { $0.kind == .enrollmentCreated }.count == 1)
    }

    @Test("A biometric that waits is undone by another device, and its key signs nothing from then on")
    func undone() async throws {
        let (world, shop, user) = try await scene()
        try await world.makeWeakType("face", methods: [.biometric, .confirm])
        let phone = try await world.makeDevice(of: user, by: shop)
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        _ = try await device.enroll()
        let id = device.enrollment
        let outcome = try await UndoMethod.undo(.biometric, of: id, by: try await phone.call(), ports: world.ports)
        #expect(outcome == .undone)
        world.time.advance(seconds: Client.standardCoolingOff.value)
        let kept = try await find(id, in: world)
        #expect(kept.biometric == nil && kept.jwks?.userVerification == nil)
        #expect(kept.usableMethods(at: world.time.now) == [.confirm])
        let asked = try await world.ask(try world.request(for: user, type: "face"), by: shop)
        #expect(asked.enrollments.contains(id))
        #expect(try await device.answer(asked, "APPROVED_USER_VERIFICATION", verified: true) == .notSigned)
        #expect(try await device.answer(asked) == .decided(ChallengeStatus(state: "approved", reason: nil)))
    }

    @Test("A waiver names the key by the fingerprint that the audit has")
    func waived() async throws {
        let (world, shop, user) = try await scene(waives: true)
        _ = try await world.makeDevice(of: user, by: shop)
        let rival = try await world.makeClient("Rival").client
        _ = try await world.store.commit { try $0.links.put(user, to: rival.id, externalID: nil) }
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: rival), in: world, verifies: true)
        guard case .enrolled(let made, .some) = try await device.enroll() else {
            Issue.record("it does not wait")
            return
        }
        let created = try await world.audit().last { $0.kind == .enrollmentCreated }
        #expect(created?.detail["fingerprint"] == .string("\(made.fingerprint)"))
        let wrong = try #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 20)))
        #expect(try await WaiveWait.waive(made.id, wrong, by: .system, ports: world.ports) == .notFound)
        #expect(try await WaiveWait.waive(made.id, made.fingerprint, by: .system, ports: world.ports) == .done)
        let kept = try await find(made.id, in: world)
        #expect(kept.usableMethods(at: world.time.now) == [.confirm, .biometric])
    }

    @Test("An account page that such a device opened confirms no device, creates no passkey, and adds no address")
    func account() async throws {
        let (world, shop, user) = try await scene(waives: true)
        let device = try await world.makeJWKDevice(of: user, by: shop, verifies: true)
        let now = world.time.now
        let id = device.enrollment
        let authentication = Authentication(
            user: user, at: now, methods: ["hwk", "user", "mfa"], strength: .twoFactors,
            evidence: .approval(world.newID(), id))
        let session = Session(id: world.newID(), secret: Secret("secret"), authentication, from: nil, at: now)
        let visit = AccountVisit(client: shop, session: session)
        let adds = try await world.ports.commit(at: now, as: .system) { work in
            try work.mayAddAddresses(by: visit, among: [])
        }
        #expect(!adds)
        try await world.store.commit { try $0.enrollments.confirm(id, at: now) }
        let (confirms, binding) = try await world.ports.commit(at: now, as: .system) { work in
            (
                try work.confirms(id, isTap: false, of: user),
                try work.passkeyBinding(by: authentication, among: [])
            )
        }
        #expect(!confirms && binding == nil)
    }
}
