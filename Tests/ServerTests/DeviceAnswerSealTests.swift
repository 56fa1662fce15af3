import Crypto
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("How an answer must be signed and sealed")
struct DeviceAnswerSealTests {
    @Test("A message outside the profile is refused, and changes nothing", arguments: DeviceMessageForge.allCases)
    func forged(_ forge: DeviceMessageForge) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            scene.server.clock.advance(seconds: 5)
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let message = try await forge.message(text, from: scene.phone)
            let reply = try await scene.phone.answer(asked.id, message: message)
            #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            try await scene.expectUntouched(asked)
        }
    }

    @Test("RFC 9580 §5: a packet of any type with any content in place of the message is refused")
    func everyPacketType() async throws {
        try await DeviceScene.with { scene in
            var asked = try await scene.ask()
            var good = try await scene.approval(of: asked)
            for tag: UInt8 in 0..<64 {
                // Ten refused answers a minute are all a device has, and a challenge lives for two.
                if tag.isMultiple(of: 4) {
                    try await scene.expectUntouched(asked)
                    scene.server.clock.advance(seconds: 61)
                    asked = try await scene.ask()
                    good = try await scene.approval(of: asked)
                }
                let body = [UInt8](repeating: tag, count: 30)
                for message in [
                    [0xC0 | tag, UInt8(body.count)] + body, [0xC0 | tag, UInt8(body.count)] + body + good,
                ] {
                    // A marker is ignored wherever it stands (§5.8); before a right answer it changes nothing.
                    guard tag != 10 || message.count == 32 else { continue }
                    let reply = try await scene.phone.answer(asked.id, message: message)
                    #expect(reply.refusal == Refusal(422, "answer_invalid"), "packet type \(tag): \(reply)")
                }
            }
            try await scene.expectUntouched(asked)
        }
    }

    enum Signer: CaseIterable, Sendable {
        case otherUsersPhone, otherPhoneOfTheUser, ownAuthenticationKey, freshKey, ownKeyWithOtherTime
    }

    @Test("Only the device's own primary key signs its receipts", arguments: Signer.allCases)
    func signers(_ signer: Signer) async throws {
        try await DeviceScene.with { scene in
            let now = scene.server.clock.now.unixSeconds
            let second = try await scene.anotherPhone()
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let key: SigningKeyPair
            switch signer {
            case .otherUsersPhone: key = try await scene.strangersPhone().primary
            case .otherPhoneOfTheUser: key = second.primary
            case .ownAuthenticationKey:
                let createdAt = scene.phone.certificate.primary.publicKey.createdAt
                key = SigningKeyPair(scene.phone.authentication, createdAt: createdAt)
                #expect(scene.phone.certificate.keys.contains { $0.fingerprint == key.publicKey.fingerprint })
            case .freshKey: key = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
            case .ownKeyWithOtherTime:
                key = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now - 1)
            }
            let sealed = try await scene.phone.seal(text, signedBy: key)
            let reply = try await scene.phone.answer(asked.id, message: sealed)
            #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            try await scene.expectUntouched(asked)
        }
    }

    @Test("A receipt that names the other phone of the user is refused, whoever signs")
    func receiptOfOtherPhone() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let text = second.receipt(of: question, .approved(.confirm, number: asked.number)).text
            for key in [scene.phone.primary, second.primary] {
                let sealed = try await scene.phone.seal(text, signedBy: key)
                let reply = try await scene.phone.answer(asked.id, message: sealed)
                #expect(reply.refusal == Refusal(422, "answer_invalid"))
            }
            try await scene.expectUntouched(asked)
        }
    }

    @Test("An answer sealed for another recipient is refused")
    func otherRecipient() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let sealed = try await scene.phone.seal(text, intendedRecipient: scene.phone.certificate.fingerprint)
            let reply = try await scene.phone.answer(asked.id, message: sealed)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test("The challenge the server sends cannot be sent back as an answer")
    func reflected() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try #require(
                try await scene.phone.send(.GET, "\(asked.path)/message").success()["message"]?.string)
            let bytes = try #require(Base64.decode(message))
            #expect(try await scene.phone.answer(asked.id, message: bytes).refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test("Refused answers are told in the audit by digest and reason alone")
    func audit() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let sealed = try await scene.phone.seal(text.replacing("1,250.00", with: "1.00"))
            _ = try await scene.phone.answer(asked.id, message: sealed)
            let refused = try await scene.events("answer.refused")
            #expect(refused.count == 1)
            let event = try #require(refused.first)
            #expect(event["challenge"] == .string(asked.id))
            #expect(event["detail"]?["digest"] == .string(Hex.encode(SHA256.hash(data: sealed))))
            #expect(event["detail"]?["reason"] == "text")
            let written = String(decoding: event.encoded, as: UTF8.self)
            #expect(!written.contains(asked.number.digits) && !written.contains(Base64.encode(sealed)))
        }
    }
}
