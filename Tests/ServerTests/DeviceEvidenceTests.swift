import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import OpenPGPTestSupport
import ServerTestSupport
import TestSupport
import Testing

@Suite("Only what others can verify for good becomes a receipt")
struct DeviceEvidenceTests {
    /// Answers rightly but for the form of the signature.
    private static func answer(
        _ asked: DeviceScene.Asked, _ form: AnswerForm, in scene: DeviceScene, number: EntryNumber? = nil
    ) async throws -> Reply {
        let phone = scene.phone
        let question = try await phone.open(asked.id).question
        let now = scene.server.clock.now.unixSeconds
        let text = phone.receipt(of: question, .approved(.confirm, number: number ?? asked.number)).text
        let areas = form.areas(
            signer: phone.certificate.fingerprint, recipient: phone.serverCertificate.fingerprint,
            asked: question.askedAt.unixSeconds, now: now)
        let signature = try await HandmadeSignature.make(
            over: text, by: phone.primary, hashed: areas.hashed, unhashed: areas.unhashed)
        let sealed = try HandmadeSignature.seal(
            text, signature, by: phone.primary.publicKey,
            to: try phone.serverCertificate.key(for: .encrypt, at: now).publicKey, at: now)
        return try await phone.answer(asked.id, message: sealed)
    }

    @Test(
        "A signature that says what a receipt must not depend on is refused, and changes nothing",
        // A critical notation that nobody knows is refused where a signature is read, the library's own tests say.
        arguments: AnswerForm.allCases.filter { !$0.isAdmitted && $0 != .criticalSalt })
    func refused(_ form: AnswerForm) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let reply = try await Self.answer(asked, form, in: scene)
            #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            // A critical notation does not get as far as that.
            let reason: JSONValue = form == .criticalSalt ? "message" : "signature"
            #expect(try await scene.events("answer.refused").last?["detail"]?["reason"] == reason)
            try await scene.expectUntouched(asked)
        }
    }

    @Test(
        "What GnuPG, Sequoia and OpenPGP.js write is taken; what the signature does not cover is not served",
        arguments: AnswerForm.allCases.filter(\.isAdmitted))
    func admitted(_ form: AnswerForm) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let reply = try await Self.answer(asked, form, in: scene)
            #expect(reply.json["state"] == "approved", "\(reply)")
            let served = try await scene.shop.call(.GET, "\(asked.path)/receipt")
            let text = String(decoding: served.body, as: UTF8.self)
            // What every answer's signature has besides: 4 octets, lengths, the key ID, the beginning of the hash, two numbers.
            let message = try CleartextMessage(parsing: text)
            #expect(message.signature.body.count <= message.signature.hashedSize + 90)
            #expect(message.signature.subpackets.issuerKeyID == scene.phone.certificate.fingerprint.keyID)
            // The receipt is good long after, by the certificate that is served with it.
            let certificate = try await scene.shop.call(.GET, "\(asked.path)/receipt?format=certificate")
            let verified = try VerifiedReceipt(
                message: text, certificate: try Certificate(armored: String(decoding: certificate.body, as: UTF8.self)),
                now: scene.server.clock.now.unixSeconds + 315_360_000)
            #expect("\(verified.receipt.challenge)" == asked.id)
        }
    }

    @Test("A signature of a wrong form does not tell whether the number was right")
    func wrongNumber() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            for number in [asked.wrongNumber, asked.number] {
                let reply = try await Self.answer(asked, .lifetime, in: scene, number: number)
                #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            }
            try await scene.expectUntouched(asked)
        }
    }
}
