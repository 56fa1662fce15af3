import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("What a push brings to a device with JWKs")
struct JWTPushTests {
    /// A user with such a device that gets pushes, at a server that has the key of RSA.
    private func scene(_ engine: Engine = .chosen) async throws -> (world: World, shop: Client, device: TestJWKDevice) {
        let world = try await World(engine)
        try await PrepareTokenKeys.prepare([.tokenRS256], by: .system, ports: world.ports)
        try await world.store.refreshKeys()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        let app = try #require(AppID("com.example.bank"))
        let push = try #require(PushRegistration(service: .apns(.production), app: app, token: Secret("aabb")))
        guard case .enrolled = try await device.enroll(push: push) else { throw World.Broken("device") }
        try await world.makeWeakType()
        return (world, shop, device)
    }

    private func facts(
        of asked: AskedChallenge, to enrollment: EnrollmentID, in world: World
    ) async throws -> AnnounceChallenge.Facts {
        let subject = AnnounceChallenge.Subject(asked.challenge.id, to: enrollment)
        return try #require(try await AnnounceChallenge.facts(of: [subject], ports: world.ports)[0])
    }

    @Test(
        "The payload is the one that the vendor's SDK looks for, and nothing of it is ours",
        arguments: Engine.allCases)
    func payload(_ engine: Engine) async throws {
        let (world, shop, device) = try await scene(engine)
        let asked = try await world.ask(try world.request(for: device.invitation.user, type: "tap"), by: shop)
        let facts = try await facts(of: asked, to: device.enrollment, in: world)
        #expect(facts.jwkDevice?.id == device.enrollment && facts.badge == 1)
        let order = try await AnnounceChallenge.prepare(facts, ports: world.ports)
        guard case .jwt(let announcement) = order.content else {
            Issue.record("not a JWT")
            return
        }
        let payload = announcement.payload
        #expect(payload.object?.members.map(\.name) == ["aps", "payloadVersion", "challenge"])
        #expect(payload["payloadVersion"] == "IDXv1" && payload["aps"]?["category"] == "OKTA_PUSH_CHALLENGE")
        #expect(payload["aps"]?["alert"]?["title"] == .string(shop.name.text))
        let verified = try JWS.verify(
            try #require(payload["challenge"]?.string), algorithms: [.rs256], type: .exactly(JWTAnswer.type),
            keys: try world.ports.keys.current().tokens.published)
        let claims = try JSONValue(parsing: verified.payload)
        #expect(claims["transactionId"] == .string("\(asked.challenge.id)"))
        #expect(claims["userVerification"] == "NONE" && claims["sub"] == nil)
        // The device answers to what the push says alone.
        let challenge = try await world.challenge(asked)
        #expect(claims["nonce"] == .string("\(challenge.question.nonce)"))
        #expect(try await device.answer(asked) == .decided(ChallengeStatus(state: "approved", reason: nil)))
    }

    @Test("A device with a certificate gets our announcement, whoever else is asked")
    func ours() async throws {
        let (world, shop, device) = try await scene()
        let phone = try await world.makeDevice(of: device.invitation.user, by: shop)
        try await phone.register(.fcm, token: "a:b")
        let asked = try await world.ask(try world.request(for: device.invitation.user, type: "tap"), by: shop)
        let facts = try await facts(of: asked, to: phone.enrollment, in: world)
        #expect(facts.jwkDevice == nil)
        guard case .announcement = try await AnnounceChallenge.prepare(facts, ports: world.ports).content else {
            Issue.record("not ours")
            return
        }
        // What has ended is taken back from a device that knows what that is.
        for (enrollment, isTold) in [(phone.enrollment, true), (device.enrollment, false)] {
            let order = try await AnnounceChallenge.prepareWithdrawal(
                of: asked.challenge.id, from: enrollment, until: asked.challenge.expiresAt, ports: world.ports)
            #expect((order != nil) == isTold)
        }
    }

    @Test("The longest message fits into a push, and the category opens the app where the biometric is asked for")
    func longest() async throws {
        let (world, shop, device) = try await scene()
        try await world.makeWeakType("face", methods: [.biometric])
        var request = try world.request(for: device.invitation.user, type: "face")
        let message = String(repeating: "\u{1F3E6}", count: PushAlert.maximumMessageLength)
        request.message = try DisplayMessage(message)
        request.context = ContextLine(address: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", userAgent: "Edg/1 Windows")
        let asked = try await world.ask(request, by: shop)
        let order = try await AnnounceChallenge.prepare(
            try await facts(of: asked, to: device.enrollment, in: world), ports: world.ports)
        guard case .jwt(let announcement) = order.content else {
            Issue.record("not a JWT")
            return
        }
        #expect(announcement.payload.encoded.count <= PushEnvelope.maximumPayloadSize)
        #expect(announcement.payload["aps"]?["category"] == "OKTA_PUSH_UV_CHALLENGE")
        #expect(announcement.verification == .required)
    }

    @Test("A push that was signed just before its key is replaced verifies for a day; what is fetched has the new key")
    func rotated() async throws {
        let (world, shop, device) = try await scene()
        func pass(_ length: Seconds) async throws {
            world.time.advance(length)
            try await RotateIssuerKey.sweep(ports: world.ports)
            try await world.store.refreshKeys()
        }
        func signer(of token: String) throws -> String {
            let keys = try world.ports.keys.current().tokens.published
            let verified = try JWS.verify(
                token, algorithms: [.rs256], type: .exactly(JWTAnswer.type), keys: keys)
            return try #require(verified.header["kid"]?.string)
        }
        // Of two keys of one second neither is the newer one.
        try await pass(1)
        let begun = try await RotateIssuerKey.begin(.tokenRS256, isAtOnce: false, by: .system, ports: world.ports)
        guard case .begun = begun else { throw World.Broken("\(begun)") }
        try await world.store.refreshKeys()
        try await pass(RotateIssuerKey.publication - 30)
        let id = device.enrollment
        let enrollment = try #require(try await world.store.read { try $0.enrollments.find(id) })
        let asked = try await world.ask(try world.request(for: device.invitation.user, type: "tap"), by: shop)
        let challenge = try await world.challenge(asked)
        let pushed = try await challenge.token(for: enrollment, showing: challenge.alert, ports: world.ports)
        let first = try signer(of: pushed)
        try await pass(30)
        let fetched = try await challenge.token(for: enrollment, showing: challenge.alert, ports: world.ports)
        let (again, second) = (try signer(of: pushed), try signer(of: fetched))
        #expect(again == first && second != first)
        #expect(try await device.answer(asked) == .decided(ChallengeStatus(state: "approved", reason: nil)))
        try await pass(RotateIssuerKey.honour + TokenLifetimes.longestAccess)
        #expect(throws: JOSEError.unknownKeyID) { try signer(of: pushed) }
        #expect(try signer(of: fetched) == second)
    }

    @Test("While there is no key of RSA nothing is signed by another one")
    func noKey() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let challenge = try await scene.world.challenge(asked)
        let device = try await scene.enrollment()
        await #expect(throws: StoreError.unavailable) {
            try await challenge.token(for: device, showing: challenge.alert, ports: scene.world.ports)
        }
    }
}
