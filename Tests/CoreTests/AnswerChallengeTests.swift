import CountersignCore
import CountersignWire
import Crypto
import OpenPGP
import StorageTestSupport
import Encodings
import Testing

@Suite("Answering")
struct AnswerChallengeTests {
    private struct Scene {
        let world: World
        let shop: Client
        let device: TestDevice
        let asked: AskedChallenge

        init(devices: Int = 1) async throws {
            world = try await World()
            try await world.makeType()
            shop = try await world.makeClient(waives: true).client
            let user = try await world.makeUser(of: shop)
            device = try await world.makeDevice(of: user, by: shop)
            for _ in 1..<devices { _ = try await world.makeDevice(of: user, by: shop) }
            asked = try await world.ask(try world.request(for: user), by: shop)
        }

        var right: Decision { .approved(.confirm, number: asked.number) }
    }

    @Test("The same sealed bytes get the same reply for ever, and decide nothing a second time")
    func repeated() async throws {
        let scene = try await Scene()
        try await scene.device.open(scene.asked.challenge.id)
        let message = try await scene.device.receipt(of: scene.asked, scene.right)
        for _ in 0..<3 {
            let outcome = try await scene.device.answer(scene.asked.challenge.id, with: message)
            #expect(outcome.summary == "decided approved -")
            scene.world.time.advance(seconds: 300)
        }
        #expect(try await scene.world.count("receipts") == 1)
        #expect(try await scene.world.audit().filter { $0.kind == .challengeApproved }.count == 1)
    }

    @Test("A second answer comes too late, whatever it says")
    func second() async throws {
        let scene = try await Scene()
        #expect(try await scene.device.answer(scene.asked, .denied).summary == "decided denied declined")
        let message = try await scene.device.receipt(of: scene.asked, scene.right)
        let outcome = try await scene.device.answer(scene.asked.challenge.id, with: message)
        #expect(outcome.summary == "already ended denied declined")
        #expect(try await scene.world.count("receipts") == 1)
    }

    @Test("A wrong number ends the challenge without a receipt, and the right one comes too late")
    func wrongNumber() async throws {
        let scene = try await Scene()
        let digits = try #require(scene.asked.number).digits == "000000" ? "000001" : "000000"
        let wrong = Decision.approved(.confirm, number: EntryNumber(digits))
        #expect(try await scene.device.answer(scene.asked, wrong).summary == "decided failed wrong_number")
        let message = try await scene.device.receipt(of: scene.asked, scene.right)
        let outcome = try await scene.device.answer(scene.asked.challenge.id, with: message)
        #expect(outcome.summary == "already ended failed wrong_number")
        #expect(try await scene.world.count("receipts") == 0)
    }

    @Test("An answer counts until the last millisecond")
    func expiry() async throws {
        for (milliseconds, expected) in [
            (119_999, "decided approved -"), (120_000, "already ended expired -"),
        ] as [(Int64, String)] {
            let scene = try await Scene()
            try await scene.device.open(scene.asked.challenge.id)
            scene.world.time.advance(milliseconds: milliseconds)
            let message = try await scene.device.receipt(of: scene.asked, scene.right)
            let outcome = try await scene.device.answer(scene.asked.challenge.id, with: message)
            #expect(outcome.summary == expected)
        }
    }

    @Test("An answer without the number and one by another key are both just invalid")
    func invalid() async throws {
        let scene = try await Scene()
        let id = scene.asked.challenge.id
        try await scene.device.open(id)
        let numberless = try await scene.device.receipt(of: scene.asked, .approved(.confirm, number: nil))
        #expect(try await scene.device.answer(id, with: numberless).summary == "invalid")
        let receipt = Receipt(
            of: try await scene.world.challenge(scene.asked).question, user: scene.device.invitation.user,
            device: scene.device.certificate.fingerprint,
            decision: scene.right,
            answeredAt: scene.world.time.now)
        let now = scene.world.time.now.unixSeconds
        let foreign = try await scene.device.seal(
            receipt.text, signedBy: SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now))
        #expect(try await scene.device.answer(id, with: foreign).summary == "invalid")
        #expect(try await scene.world.count("challenges", where: "state = 'pending'") == 1)
        let reasons = try await scene.world.audit().filter { $0.kind == .answerRefused }
        #expect(reasons.map { $0.detail["reason"]?.string } == ["method", "signer"])
    }

    @Test("Refused answers are limited to ten a minute for each device, and none beyond is audited")
    func rateLimit() async throws {
        let scene = try await Scene(devices: 2)
        let id = scene.asked.challenge.id
        for _ in 0..<10 {
            #expect(try await scene.device.answer(id, with: [1, 2, 3]).summary == "invalid")
        }
        for _ in 0..<3 {
            #expect(try await scene.device.answer(id, with: [1, 2, 3]).summary == "rate limited 60")
        }
        #expect(try await scene.world.audit().filter { $0.kind == .answerRefused }.count == 10)
        scene.world.time.advance(seconds: 60)
        #expect(try await scene.device.answer(id, with: [1, 2, 3]).summary == "invalid")
    }

    @Test("A device that was not asked finds no such challenge")
    func notAsked() async throws {
        let scene = try await Scene()
        let stranger = try await scene.world.makeDevice(
            of: try await scene.world.makeUser(of: scene.shop), by: scene.shop)
        let message = try await stranger.receipt(of: scene.asked, scene.right)
        #expect(try await stranger.answer(scene.asked.challenge.id, with: message).summary == "not found")
    }

    @Test("Removing one of two devices leaves the challenge to the other; removing the last ends it")
    func removal() async throws {
        let scene = try await Scene(devices: 2)
        let world = scene.world
        let user = try #require(scene.asked.challenge.user)
        for (enrollment, state) in zip(scene.asked.enrollments, ["pending", "failed"]) {
            #expect(
                try await RemoveEnrollment.remove(enrollment, of: .id(user), by: scene.shop.caller, ports: world.ports)
                    == .removed)
            let kept = try await world.ports.store.read { try $0.challenges.find(scene.asked.challenge.id) }
            #expect(kept?.state.status.state == state)
        }
        let kept = try #require(try await world.ports.store.read { try $0.challenges.find(scene.asked.challenge.id) })
        #expect(kept.state == .ended(.failed(.deviceRemoved), at: world.time.now))
        #expect(kept.numberHash == nil, "an ended challenge keeps no number")
    }
}
