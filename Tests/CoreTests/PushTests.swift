import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@Suite("Where a device is reached, and what a push carries")
struct PushTests {
    private struct Scene {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice

        func update(_ update: EnrollmentUpdate) async throws -> Enrollment {
            try await UpdateEnrollment.update(update, by: try await device.call(), ports: world.ports).get()
        }

        func registration(_ token: String = "aabb") throws -> PushRegistration {
            let app = try #require(AppID("com.example.bank"))
            return try #require(PushRegistration(service: .apns(.production), app: app, token: Secret(token)))
        }
    }

    private func scene(registered: Bool = true) async throws -> Scene {
        let world = try await World()
        try await world.makeType()
        try await world.makeType("plain", numberEntry: false)
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let scene = Scene(
            world: world, shop: shop, user: user, device: try await world.makeDevice(of: user, by: shop))
        if registered { _ = try await scene.update(EnrollmentUpdate(push: .registered(try scene.registration()))) }
        return scene
    }

    /// The push that is sent now.
    private func order(
        for id: ChallengeID, to device: TestDevice, in world: World
    ) async throws -> AnnounceChallenge.Order {
        let subject = AnnounceChallenge.Subject(id, to: device.enrollment)
        let facts = try #require(try await AnnounceChallenge.facts(of: [subject], ports: world.ports)[0])
        return try await AnnounceChallenge.prepare(facts, ports: world.ports)
    }

    @Test("What several pushes are made from is read together: each device's own, nothing where there is none")
    func severalFacts() async throws {
        let scene = try await scene()
        let world = scene.world
        let other = try await world.makeDevice(of: scene.user, by: scene.shop)
        try await other.register(.fcm, token: "a:b")
        let silent = try await world.makeDevice(of: scene.user, by: scene.shop)
        let request = try world.request(for: scene.user)
        let first = try await world.ask(request, by: scene.shop).challenge.id
        let ended = try await world.ask(request, by: scene.shop).challenge.id
        _ = try await CancelChallenge.cancel(ended, by: scene.shop.caller, ports: world.ports)
        let facts = try await AnnounceChallenge.facts(
            of: [
                .init(first, to: silent.enrollment), .init(first, to: other.enrollment),
                .init(ended, to: other.enrollment), .init(world.newID(), to: other.enrollment),
                .init(first, to: scene.device.enrollment),
            ], ports: world.ports)
        #expect(facts.map { $0?.enrollment } == [nil, other.enrollment, nil, nil, scene.device.enrollment])
        #expect(
            facts.map { $0?.push.registration.service } == [
                nil, PushService.fcm, nil, nil, PushService.apns(.production),
            ])
        #expect(facts.compactMap { $0?.challenge.id } == [first, first])
        #expect(facts.compactMap { $0?.badge } == [1, 1])
        #expect(try await AnnounceChallenge.facts(of: [], ports: world.ports).isEmpty)
    }

    @Test("A registration is kept, replaced and removed; what is not named stays as it was")
    func updates() async throws {
        let scene = try await scene(registered: false)
        let world = scene.world
        func kept() async throws -> String? {
            try await world.store.read { try $0.pushes.find(of: scene.device.enrollment) }?.registration.token
                .reveal()
        }
        #expect(try await kept() == nil)
        var enrollment = try await scene.update(EnrollmentUpdate(push: .registered(try scene.registration())))
        #expect(enrollment.push?.service == .apns(.production))
        #expect(enrollment.push?.app.description == "com.example.bank")
        #expect(enrollment.push?.registeredAt == world.time.now)
        #expect(try await kept() == "aabb")
        var described = enrollment.device.labels
        described.name = try DisplayLine("Ada's other phone")
        enrollment = try await scene.update(EnrollmentUpdate(device: described))
        #expect(enrollment.device.name.text == "Ada's other phone")
        #expect(enrollment.push != nil)
        _ = try await scene.update(EnrollmentUpdate(push: .registered(try scene.registration("ccdd"))))
        #expect(try await kept() == "ccdd")
        #expect(try await scene.update(EnrollmentUpdate()).push != nil)
        enrollment = try await scene.update(EnrollmentUpdate(push: .removed))
        #expect(enrollment.push == nil)
        #expect(enrollment.device.name.text == "Ada's other phone")
        #expect(try await kept() == nil)
        let events = try await world.audit().filter { $0.kind == .enrollmentUpdated }
        #expect(events.map { $0.detail["push"] } == ["apns", nil, "apns", nil, "none"])
        #expect(!events.contains { JSONValue.object($0.detail).text.contains("aabb") })
    }

    @Test("A device that is removed is reached nowhere, and cannot register")
    func removed() async throws {
        let scene = try await scene()
        let call = try await scene.device.call()
        _ = try await RemoveEnrollment.remove(
            scene.device.enrollment, of: .id(scene.user), by: scene.shop.caller, ports: scene.world.ports)
        #expect(try await scene.world.store.read { try $0.pushes.find(of: scene.device.enrollment) } == nil)
        #expect(try await scene.world.count("enrollments", where: "push_token IS NOT NULL") == 0)
        let update = EnrollmentUpdate(push: .registered(try scene.registration()))
        guard
            case .refused(.deregistered) = try await UpdateEnrollment.update(
                update, by: call, ports: scene.world.ports)
        else {
            Issue.record("it registered")
            return
        }
    }

    @Test("A question is queued for the devices that are reached by push, in the transaction that asks it")
    func queued() async throws {
        for isRegistered in [true, false] {
            let scene = try await scene(registered: isRegistered)
            let asked = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
            let deliveries = try await scene.world.store.read { try $0.targets.deliveries(of: asked.challenge.id) }
            #expect(deliveries.map(\.enrollment) == [scene.device.enrollment])
            #expect(deliveries.first?.push?.delivery == (isRegistered ? .queued(lastFailure: nil) : nil))
            #expect(try await scene.world.count("outbox") == (isRegistered ? 1 : 0))
            try await scene.device.open(asked.challenge.id)
            let fetched = try await scene.world.store.read { try $0.targets.deliveries(of: asked.challenge.id) }
            #expect(fetched.first?.fetchedAt == scene.world.time.now)
        }
    }

    @Test("A worker that comes too late does not say of a push that arrived that it did not")
    func late() async throws {
        let scene = try await scene()
        let world = scene.world
        let asked = try await world.ask(try world.request(for: scene.user), by: scene.shop)
        let now = world.time.now
        let leased = try await world.store.lease(limit: 1, now: now, until: now.adding(seconds: 60))
        let message = try #require(leased.first?.message)
        func status() async throws -> PushDelivery? {
            try await world.store.read { try $0.targets.deliveries(of: asked.challenge.id) }.first?.push?.delivery
        }
        try await world.record(.retried("slow", at: now.adding(seconds: 1)), of: message, at: now)
        #expect(try await status() == .queued(lastFailure: "slow"))
        try await world.record(.delivered, of: message, at: now)
        #expect(try await status() == .accepted)
        for outcome: DeliveryOutcome in [.retried("late", at: now), .abandoned("late")] {
            try await world.record(outcome, of: message, at: now)
            #expect(try await status() == .accepted)
        }
    }

    @Test(
        "A notification is taken back from the devices that show it when the question has ended elsewhere",
        arguments: ["answered", "cancelled", "expired"])
    func withdrawn(_ end: String) async throws {
        let scene = try await scene()
        let world = scene.world
        let other = try await world.makeDevice(of: scene.user, by: scene.shop)
        try await other.register(.fcm, token: "a:b")
        let silent = try await world.makeDevice(of: scene.user, by: scene.shop)
        let asked = try await world.ask(try world.request(for: scene.user), by: scene.shop)
        let id = asked.challenge.id
        let now = world.time.now
        for leased in try await world.store.lease(.push, limit: 9, now: now, until: now.adding(seconds: 60)) {
            try await world.record(.delivered, of: leased.message, at: now)
        }
        // Reached since, and shown nothing.
        try await silent.register(.fcm, token: "c:d")
        switch end {
        case "answered": _ = try await scene.device.answer(asked, .denied)
        case "cancelled": _ = try await CancelChallenge.cancel(id, by: scene.shop.caller, ports: world.ports)
        default:
            world.time.advance(seconds: 3600)
            try await ExpireChallenges.sweep(ports: world.ports)
        }
        let later = world.time.now
        let leased = try await world.store.lease(.push, limit: 9, now: later, until: later.adding(seconds: 60))
        let withdrawn = leased.compactMap { leased -> EnrollmentID? in
            guard case .withdrawal(id, let enrollment, scene.shop.id) = leased.message.content else { return nil }
            #expect(leased.message.expiresAt == later.adding(seconds: 3600))
            return enrollment
        }
        #expect(leased.count == withdrawn.count)
        let (first, second) = (scene.device.enrollment, other.enrollment)
        let expected: Set<EnrollmentID> =
            switch end {
            // Who answered knows.
            case "answered": [second]
            case "cancelled": [first, second]
            default: []
            }
        #expect(Set(withdrawn) == expected)
        // What becomes of it is not what became of the question's own push.
        for leased in leased {
            try await world.record(.abandoned("no"), of: leased.message, at: later)
        }
        let deliveries = try await world.store.read { try $0.targets.deliveries(of: id) }
        #expect(deliveries.count { $0.push?.delivery == .accepted } == 2)
    }

    @Test("What became of pushes that nobody can send again is swept after a day, of callbacks after a month")
    func swept() async throws {
        let scene = try await scene()
        let world = scene.world
        var request = try world.request(for: scene.user)
        request.callbackURI = CallbackURI(stored: World.callback)
        let asked = try await world.ask(request, by: scene.shop)
        _ = try await CancelChallenge.cancel(asked.challenge.id, by: scene.shop.caller, ports: world.ports)
        let now = world.time.now
        for leased in try await world.store.lease(limit: 9, now: now, until: now.adding(seconds: 60)) {
            try await world.record(.abandoned("gone"), of: leased.message, at: now)
        }
        #expect(try await world.count("outbox", where: "state = 'dead'") == 2)
        func sweep(at time: Timestamp) async throws {
            _ = try await world.store.commit { try $0.retention.sweep(now: time, limit: 100) }
        }
        try await sweep(at: asked.challenge.expiresAt.adding(seconds: 86_399))
        #expect(try await world.count("outbox") == 2)
        try await sweep(at: asked.challenge.expiresAt.adding(seconds: 86_401))
        #expect(try await world.sql("SELECT kind FROM outbox").map { try $0.text(0) } == ["callback"])
        #expect(try await world.count("outbox", where: "payload IS NOT NULL") == 0)
        try await sweep(at: now.adding(OutboxMessage.lifetime + .days(30) - 1))
        #expect(try await world.count("outbox") == 1)
        try await sweep(at: now.adding(OutboxMessage.lifetime + .days(30) + 1))
        #expect(try await world.count("outbox") == 0)
    }

    @Test("Approving on the notification is offered when that shows all there is to a question")
    func category() async throws {
        let scene = try await scene()
        let world = scene.world
        func category(
            _ type: String = "plain", _ change: (inout AskChallenge.Request) throws -> Void = { _ in }
        ) async throws -> String? {
            var request = try world.request(for: scene.user, type: type)
            try change(&request)
            let id = try await world.ask(request, by: scene.shop).challenge.id
            let order = try await order(for: id, to: scene.device, in: world)
            return order.payload["aps"]?["category"]?.string
        }
        #expect(try await category() == "COUNTERSIGN_CONFIRM")
        #expect(try await category("payment") == "COUNTERSIGN_REVIEW")
        #expect(try await category { $0.numberEntry = true } == "COUNTERSIGN_REVIEW")
        #expect(try await category { $0.secureMessage = try DisplayMessage("More") } == "COUNTERSIGN_REVIEW")
        #expect(try await category { $0.signingData = SigningData("x") } == "COUNTERSIGN_REVIEW")
        #expect(
            try await category { $0.details = [try Detail(["label": "Amount", "value": "1 EUR"], at: "")] }
                == "COUNTERSIGN_REVIEW")
        #expect(
            try await category { $0.context = ContextLine(address: "203.0.113.7", userAgent: nil) }
                == "COUNTERSIGN_REVIEW")
    }

    @Test("Whatever is asked, a push has at most 4096 bytes and carries what the design names and nothing else")
    func payload() async throws {
        let scene = try await scene()
        let world = scene.world
        var random = SeededGenerator.announced(by: "push payloads")
        let letters = [
            "a", "Z", " ", "\"", "\\", "/", "é", "ß", "大", "\u{1F600}", "\u{10FFFD}", "ﬆ", "\u{0416}", "&", "<",
        ]
        func text(_ longest: Int) -> String {
            let length = Int.random(in: 1...longest, using: &random)
            return (0..<length).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
        }
        var count = 0
        while count < 300 {
            guard let message = try? DisplayMessage(text(PushAlert.maximumMessageLength)),
                let name = try? ClientName(text(64))
            else { continue }
            count += 1
            var request = try world.request(for: scene.user, type: Bool.random(using: &random) ? "plain" : "payment")
            request.message = message
            request.secureMessage = try? DisplayMessage("secret \(text(2000))")
            request.details = [try Detail(["label": "Payee", "value": "secret payee"], at: "")]
            request.signingData = SigningData("secret data")
            request.clientState = "secret state"
            _ = try await UpdateClient.update(
                scene.shop.id, ClientChanges(name: name), by: scene.shop.actor, ports: world.ports)
            let asked = try await world.ask(request, by: scene.shop)
            let order = try await order(for: asked.challenge.id, to: scene.device, in: world)
            let json = order.payload
            #expect(json.encoded.count <= PushEnvelope.maximumPayloadSize)
            #expect(json.object?.members.map(\.name).sorted() == ["aps", "countersign"])
            #expect(
                json["aps"]?.object?.members.map(\.name).sorted() == ["alert", "badge", "category", "mutable-content"])
            #expect(json["aps"]?["alert"] == ["title": .string(name.text), "body": .string(message.text)])
            #expect(json["countersign"]?.object?.members.map(\.name).sorted() == ["enrollment", "id", "jws", "v"])
            let parts = (json["countersign"]?["jws"]?.string ?? "").split(separator: ".")
            let content = try #require(Base64URL.decode(parts[1]))
            let claims = try JSONValue(parsing: content)
            #expect(
                claims.object?.members.map(\.name).sorted() == ["alert", "aud", "exp", "iat", "iss", "jti", "type"])
            #expect(!json.text.contains("secret"))
            if let number = asked.number { #expect(!json.text.contains(number.digits)) }
            if count.isMultiple(of: 50) { try await world.sql("UPDATE challenges SET state = 'cancelled'") }
        }
    }
}

extension AnnounceChallenge.Order {
    /// What is sent.
    fileprivate var payload: JSONValue {
        switch content {
        case .announcement(let announcement): announcement.payload
        case .jwt(let announcement): announcement.payload
        case .withdrawal(let challenge, let enrollment): PushWithdrawal.payload(of: challenge, for: enrollment)
        }
    }
}
