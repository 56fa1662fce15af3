import CountersignWire
import Encodings
import OpenPGP
import OpenPGPTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

@Suite("The form of a signature is looked at before its signer")
struct AnswerFormTests {
    private static func send(
        _ form: AnswerForm, by key: SigningKeyPair, _ asked: AskedChallenge, in scene: PINScene
    ) async throws -> String {
        let now = scene.world.time.now
        let server = try scene.world.issuerKeys.certificate
        let text = Receipt(
            of: try await scene.world.challenge(asked).question, user: scene.user,
            device: scene.device.certificate.fingerprint,
            decision: .approved(.pin, number: asked.number), answeredAt: now
        ).text
        let areas = form.areas(
            signer: key.publicKey.fingerprint, recipient: server.fingerprint,
            asked: asked.challenge.askedAt.unixSeconds, now: now.unixSeconds)
        let signature = try await HandmadeSignature.make(
            over: text, by: key, hashed: areas.hashed, unhashed: areas.unhashed)
        let sealed = try HandmadeSignature.seal(
            text, signature, by: key.publicKey, to: try server.key(for: .encrypt, at: now.unixSeconds).publicKey,
            at: now.unixSeconds)
        return try await scene.device.answer(asked.challenge.id, with: sealed).summary
    }

    @Test(
        "A right PIN and a wrong one look alike where the form is wrong, and neither counts",
        // A critical notation that nobody knows is refused where a signature is read, the library's own tests say.
        arguments: AnswerForm.allCases.filter { !$0.isAdmitted && $0 != .criticalSalt })
    func alike(_ form: AnswerForm) async throws {
        let scene = try await PINScene()
        let pin = try await scene.device.setPIN()
        let asked = try await scene.ask()
        for key in [pin, scene.device.newPINKey()] {
            #expect(try await Self.send(form, by: key, asked, in: scene) == "invalid")
        }
        let refused = try await scene.world.audit().filter { $0.kind == .answerRefused }.map { $0.detail["reason"] }
        #expect(refused.count == 2 && refused[0] == refused[1])
        #expect(try await scene.device.methods().attemptsLeft == 5)
        #expect(try await Self.send(.plain, by: pin, asked, in: scene) == "decided approved -")
    }

    @Test("A signature dated before the PIN's key was made is refused alike, right or wrong, and does not count")
    func beforeTheKey() async throws {
        let scene = try await PINScene()
        let first = try await scene.device.setPIN()
        let asked = try await scene.ask()
        scene.world.time.advance(seconds: 30)
        let second = scene.device.newPINKey()
        #expect(try await PINChange(of: scene.device, from: first, to: second).send().summary == "changed")
        for key in [second, scene.device.newPINKey()] {
            #expect(try await Self.send(.datedAtAsking, by: key, asked, in: scene) == "invalid")
        }
        #expect(try await scene.device.methods().attemptsLeft == 5)
        #expect(try await Self.send(.plain, by: second, asked, in: scene) == "decided approved -")
    }
}
