import CountersignCore
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@Suite("Enrolling")
struct EnrollDeviceTests {
    /// A world with a client, a user and a device that is not enrolled yet.
    private func scene(waives: Bool = false) async throws -> (world: World, client: Client, device: TestDevice) {
        let world = try await World()
        let client = try await world.makeClient(waives: waives).client
        let user = try await world.makeUser(of: client)
        let device = try await TestDevice(try await world.makeTicket(for: user, by: client), in: world)
        return (world, client, device)
    }

    @Test("A device with a fresh ticket and its own certificate is enrolled, with its keys and its description")
    func enrolls() async throws {
        let (world, client, device) = try await scene()
        guard case .enrolled(let made, nil) = try await device.enroll() else {
            Issue.record("not enrolled")
            return
        }
        #expect(made.id == device.enrollment)
        let kept = try #require(try await world.ports.store.read { try $0.enrollments.find(device.enrollment) })
        #expect(kept.user == device.invitation.user)
        #expect(kept.client == client.id)
        #expect(kept.state == .active)
        #expect(kept.fingerprint == device.certificate.fingerprint)
        #expect(kept.device.name.text == "Test phone")
        let certificate = try await world.ports.store.read { try $0.methods.certificate(of: device.enrollment) }
        #expect(certificate == device.certificate.encoded)
    }

    @Test("A ticket nobody made enrolls nobody")
    func unknownTicket() async throws {
        let (world, _, device) = try await scene()
        #expect(
            try await device.enroll(ticket: Secret(device.invitation.ticket.reveal() + "x")).summary == "ticket invalid"
        )
        #expect(try await device.enroll(ticket: Secret("")).summary == "ticket invalid")
        #expect(try await world.count("enrollments") == 0)
    }

    @Test("A ticket of a client that is not linked to the user any more enrolls nobody")
    func unlinked() async throws {
        let (world, client, device) = try await scene()
        let user = device.invitation.user
        let rival = try await world.makeClient("Rival").client
        _ = try await world.ports.store.commit { try $0.links.put(user, to: rival.id, externalID: nil) }
        #expect(try await UnlinkUser.unlink(.id(user), from: client.caller, ports: world.ports) == .unlinked)
        #expect(try await device.enroll().summary == "ticket invalid")
        #expect(try await UnlinkUser.unlink(.id(user), from: rival.caller, ports: world.ports) == .unlinked)
        #expect(try await device.enroll().summary == "ticket invalid")
        #expect(try await world.count("enrollments") == 0)
    }

    @Test("A ticket works until the last millisecond of its ten minutes")
    func expiry() async throws {
        for (milliseconds, works) in [(599_999, true), (600_000, false)] as [(Int64, Bool)] {
            let (world, _, device) = try await scene()
            world.time.advance(milliseconds: milliseconds)
            let expected = works ? "enrolled \(device.enrollment)" : "ticket expired"
            #expect(try await device.enroll().summary == expected)
            #expect(try await world.count("enrollments") == (works ? 1 : 0))
        }
    }

    @Test("A used ticket enrolls no other device; the same device gets the enrollment it has, even after ten minutes")
    func used() async throws {
        let (world, _, device) = try await scene(waives: true)
        #expect(try await device.enroll().summary == "enrolled \(device.enrollment)")
        let thief = try await TestDevice(device.invitation, in: world)
        #expect(try await thief.enroll().summary == "ticket used")
        world.time.advance(seconds: 601)
        #expect(try await device.enroll().summary == "enrolled \(device.enrollment)")
        #expect(try await thief.enroll().summary == "ticket used")
        #expect(try await world.count("enrollments") == 1)
        #expect(try await world.audit().filter { $0.kind == .enrollmentCreated }.count == 1)
    }

    @Test("A request that is older than the enrollment it finds knows that the device and its PIN count")
    func olderRequest() async throws {
        let (world, client, device) = try await scene()
        let ticket = try await world.makeTicket(for: device.invitation.user, by: client)
        let other = try await TestDevice(ticket, in: world)
        world.time.advance(seconds: 2)
        _ = try await device.enroll()
        // What came first took its time last: it waited for the other's lock, or its node's clock is behind.
        world.time.advance(seconds: -1)
        let early = world.time.now
        _ = try await device.setPIN()
        guard case .enrolled(let repeated, nil) = try await device.enroll() else {
            Issue.record("the device is told to wait for itself")
            return
        }
        #expect(repeated.isLetIn(at: early) && repeated.methods == [.pin] && repeated.waiting(at: early).isEmpty)
        #expect(try await world.count("waits") == 0)
        let question = try await other.enroll()
        guard case .enrolled(let further, .some) = question else {
            Issue.record("a further device does not wait: \(question.summary)")
            return
        }
        #expect(!further.counts(at: early))
    }

    @Test("Of two devices that enroll at once with one push token, one is refused", arguments: Engine.allCases)
    func sharedToken(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: client)
        var devices: [TestDevice] = []
        for _ in 0..<6 {
            devices.append(try await TestDevice(try await world.makeTicket(for: user, by: client), in: world))
        }
        let app = try #require(AppID("com.example.bank"))
        let push = try #require(PushRegistration(service: .fcm, app: app, token: Secret("one-token")))
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for device in devices { group.addTask { try await device.enroll(push: push).summary } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == "push token in use" } == 5, "\(outcomes)")
        #expect(try await world.count("enrollments") == 1)
    }

    @Test("A suspended device that repeats its enrollment is told the same, and registers no push token")
    func suspended() async throws {
        let (world, client, device) = try await scene(waives: true)
        _ = try await device.enroll()
        _ = try await SuspendEnrollment.suspend(device.enrollment, true, by: client.actor, ports: world.ports)
        let app = try #require(AppID("com.example.bank"))
        let push = try #require(PushRegistration(service: .fcm, app: app, token: Secret("new-token")))
        #expect(try await device.enroll(push: push).summary == "enrolled \(device.enrollment)")
        #expect(try await world.store.read { try $0.pushes.find(of: device.enrollment) } == nil)
        _ = try await SuspendEnrollment.suspend(device.enrollment, false, by: client.actor, ports: world.ports)
        _ = try await device.enroll(push: push)
        #expect(try await world.store.read { try $0.pushes.find(of: device.enrollment) } != nil)
    }

    @Test("A removed device does not come back with the ticket it had")
    func removed() async throws {
        let (world, client, device) = try await scene()
        _ = try await device.enroll()
        let user = device.invitation.user
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: client.caller, ports: world.ports)
                == .removed)
        #expect(try await device.enroll().summary == "ticket used")
    }

    @Test("With the waiver a second device is enrolled")
    func waiver() async throws {
        let (world, client, device) = try await scene(waives: true)
        _ = try await device.enroll()
        let invitation = try await world.makeTicket(for: device.invitation.user, by: client)
        let second = try await TestDevice(invitation, in: world)
        #expect(try await second.enroll().summary == "enrolled \(second.enrollment)")
    }

    @Test(
        "Of eight first devices at once one counts, and all others wait, whatever the limits of questions"
    )
    func firstDevicesAtOnce() async throws {
        let (world, client, _) = try await scene()
        let user = try await world.makeUser(of: client)
        var devices: [TestDevice] = []
        for _ in 0..<8 {
            devices.append(try await TestDevice(try await world.makeTicket(for: user, by: client), in: world))
        }
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for device in devices { group.addTask { try await device.enroll().summary } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let words = ["enrolled", "waiting", "too many"].map { word in
            outcomes.count { $0.hasPrefix("\(word) ") }
        }
        #expect(words == [1, 7, 0], "\(outcomes)")
        #expect(try await world.count("enrollments") == 8)
        #expect(try await world.count("challenges", where: "purpose = 'new_device'") == 3, "questions at a time")
    }

    @Test("A primary key is enrolled once per issuer")
    func primaryOnce() async throws {
        let (world, client, device) = try await scene(waives: true)
        _ = try await device.enroll()
        let invitation = try await world.makeTicket(for: try await world.makeUser(of: client), by: client)
        let second = try await TestDevice(invitation, in: world)
        let now = world.time.now.unixSeconds
        let copied = try await Certificate.make(
            primary: device.primary, flags: [.certify, .sign], userID: userID(of: invitation),
            subkeys: [
                .authentication(SigningKeyPair(second.authentication, createdAt: now)),
                .encryption(second.encryption.publicKey),
            ], at: now)
        #expect(try await second.enroll(certificate: copied).summary == "already enrolled")
    }

    @Test("The request is signed by the authentication key of the certificate it brings, now, and once")
    func signature() async throws {
        let (world, _, device) = try await scene()
        let stranger = P256.Signing.PrivateKey()
        #expect(try await device.enroll(signedBy: stranger).summary == "proof invalid")
        #expect(
            try await device.enroll(keyID: "\(device.enrollment)").summary == "proof otherKey")
        let now = world.time.now
        for offset: Int64 in [-61, 61] {
            let outcome = try await device.enroll(created: now.seconds + offset)
            #expect(outcome.summary == "clock skew \(now.milliseconds)")
        }
        #expect(try await world.count("enrollments") == 0)
        let nonce = Hex.encode(world.random.bytes(16))
        #expect(try await device.enroll(nonce: nonce).summary == "enrolled \(device.enrollment)")
        #expect(try await device.enroll(nonce: nonce).summary == "nonce replayed")
    }

    private func userID(of invitation: EnrollmentInvitation) -> String {
        DeviceKeys.userID(of: invitation.user, enrollment: invitation.enrollment, issuer: invitation.issuer)
    }
}
