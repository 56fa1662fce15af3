import CountersignWire
import Crypto
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

extension TestPhone {
    /// The key of a PIN.
    func newPINKey() -> SigningKeyPair {
        SigningKeyPair(P256.Signing.PrivateKey(), createdAt: server.clock.now.unixSeconds)
    }

    /// A right change of its PIN.
    func pinChange(from old: SigningKeyPair?, to new: SigningKeyPair?) async throws -> MethodChangeRequest {
        let now = server.clock.now.unixSeconds
        let methods = try MethodsReply(try await send(.GET, "/v1/enrollments/self/methods").success())
        let notations = [AnswerMethod.pin.notation(of: server.issuer)]
        var grown = certificate
        if let old {
            grown = try await grown.adding(.signing(old, notations: notations), by: primary, at: now)
                .revoking(old.publicKey.fingerprint, because: .superseded, by: primary, at: now)
        }
        if let new { grown = try await grown.adding(.signing(new, notations: notations), by: primary, at: now) }
        let text = MethodChange(
            ChangeHeader(issuer: server.issuer, enrollment: enrollment, nonce: methods.nonce), method: .pin,
            old: old?.publicKey.fingerprint, new: new?.publicKey.fingerprint, certificate: grown.encoded
        ).text
        var authorization: [UInt8]?
        if let old { authorization = try await seal(text, signedBy: old) }
        return MethodChangeRequest(message: try await seal(text), authorization: authorization)
    }

    func change(_ request: MethodChangeRequest) async throws -> Reply {
        try await send(.POST, "/v1/enrollments/self/methods", request.json)
    }

    /// Sets a PIN and returns its key.
    func setPIN() async throws -> SigningKeyPair {
        let key = newPINKey()
        let reply = try await change(try await pinChange(from: nil, to: key))
        #expect(reply.status == 204, "\(reply)")
        return key
    }
}

@Suite("The methods of a device, over HTTP")
struct DeviceMethodsTests {
    private static let path = "/v1/enrollments/self/methods"

    private func pinState(_ scene: DeviceScene) async throws -> [JSONValue?] {
        let own = try await scene.phone.send(.GET, "/v1/enrollments/self").success()["pin"]
        let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
        return [own, list["enrollments"]?.array?.first?["pin"]]
    }

    @Test("How the methods stand is told to the device, and whether there is a PIN to the client")
    func shown() async throws {
        try await DeviceScene.with { scene in
            let before = try await scene.phone.send(.GET, Self.path).success()
            #expect(before["pin"]?["state"] == "none" && before["pin"]?["attempts_left"] == 0)
            #expect(before["pin"]?["policy"] == PINPolicy.standard.json)
            #expect(try await pinState(scene) == ["none", "none"])
            let key = try await scene.phone.setPIN()
            let after = try await scene.phone.send(.GET, Self.path).success()
            #expect(after["pin"]?["state"] == "set" && after["pin"]?["attempts_left"] == 5)
            #expect(after["nonce"] != before["nonce"])
            #expect(try await pinState(scene) == ["set", "set"])
            // No call tells a device the PIN's key: nothing to test a guess against.
            for path in ["/v1/enrollments/self", Self.path, "/v1/enrollments/self/challenges"] {
                let reply = try await scene.phone.send(.GET, path)
                #expect(!String(decoding: reply.body, as: UTF8.self).contains("\(key.publicKey.fingerprint)"))
            }
        }
    }

    @Test("A change that makes no sense is change_invalid, for whatever reason")
    func invalid() async throws {
        try await DeviceScene.with { scene in
            let other = try await scene.anotherPhone()
            let key = scene.phone.newPINKey()
            for message in [
                [], [1], try await scene.phone.seal("Countersign change v1"),
                try await other.pinChange(from: nil, to: key).message,
            ] {
                let reply = try await scene.phone.change(MethodChangeRequest(message: message))
                #expect(reply.refusal == Refusal(422, "change_invalid"))
            }
            #expect(try await pinState(scene) == ["none", "none"])
            _ = try await scene.phone.setPIN()
        }
    }

    @Test("Once there is no room for a further key, which `changes_left` told before, a change is certificate_full")
    func full() async throws {
        try await DeviceScene.with { scene in
            var pin = try await scene.phone.setPIN()
            for _ in 0..<100 {
                let left = try await scene.phone.send(.GET, Self.path).success()["changes_left"]
                let new = scene.phone.newPINKey()
                let reply = try await scene.phone.change(try await scene.phone.pinChange(from: pin, to: new))
                guard reply.status != 204 else {
                    pin = new
                    continue
                }
                #expect(reply.refusal == Refusal(409, "certificate_full"), "\(reply)")
                #expect(left == 0)
                #expect(try await pinState(scene) == ["set", "set"])
                return
            }
            Issue.record("a certificate grows without end")
        }
    }

    @Test("What a change needs besides is told: change_not_authorized")
    func notAuthorized() async throws {
        try await DeviceScene.with { scene in
            let pin = try await scene.phone.setPIN()
            var request = try await scene.phone.pinChange(from: pin, to: scene.phone.newPINKey())
            request = MethodChangeRequest(message: request.message)
            let reply = try await scene.phone.change(request)
            #expect(reply.refusal == Refusal(403, "change_not_authorized") && reply.json["needs"] == "pin")
            let old = try await scene.anotherPhone()
            scene.server.clock.advance(seconds: 601)
            let late = try await old.change(try await old.pinChange(from: nil, to: old.newPINKey()))
            #expect(late.refusal == Refusal(403, "change_not_authorized") && late.json["needs"] == "ticket")
        }
    }

    @Test("A wrong PIN is pin_incorrect with what is left, then pin_locked, in answers and changes alike")
    func wrongPIN() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.askForPIN()
            let question = try await scene.phone.open(asked.id).question
            let receipt = scene.phone.receipt(of: question, .approved(.pin, number: asked.number))
            for left: Int64 in [4, 3, 2] {
                let message = try await scene.phone.seal(receipt.text, signedBy: scene.phone.newPINKey())
                let reply = try await scene.phone.answer(asked.id, message: message)
                #expect(reply.refusal == Refusal(422, "pin_incorrect") && reply.json["attempts_left"] == .integer(left))
            }
            for left: Int64 in [1, 0] {
                let request = try await scene.phone.pinChange(from: scene.phone.newPINKey(), to: nil)
                let reply = try await scene.phone.change(request)
                #expect(reply.refusal == Refusal(422, "pin_incorrect") && reply.json["attempts_left"] == .integer(left))
            }
            let message = try await scene.phone.seal(receipt.text, signedBy: scene.phone.newPINKey())
            #expect(try await scene.phone.answer(asked.id, message: message).refusal == Refusal(409, "pin_locked"))
            let change = try await scene.phone.pinChange(from: scene.phone.newPINKey(), to: nil)
            #expect(try await scene.phone.change(change).refusal == Refusal(409, "pin_locked"))
            #expect(try await pinState(scene) == ["locked", "locked"])
            // Confirming still counts.
            let approval = try await scene.approval(of: asked)
            #expect(try await scene.phone.answer(asked.id, message: approval).json["state"] == "approved")
        }
    }

    @Test("Rules for PINs that the design forbids are refused where they are set, with their place")
    func policy() async throws {
        try await DeviceScene.with { scene in
            let reply = try await scene.server.administrator.call(
                .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["pin_policy": ["attempts": 11]])
            #expect(reply.refusal == Refusal(422, "invalid_member"))
            #expect(reply.json["pointer"] == "/pin_policy/attempts")
            let changed = try await scene.server.administrator.call(
                .PATCH, "/v1/admin/clients/\(scene.shop.clientID)", ["pin_policy": ["attempts": 3]]
            ).success()
            #expect(changed["pin_policy"]?["attempts"] == 3 && changed["pin_policy"]?["min_length"] == 5)
            let shown = try await scene.phone.send(.GET, Self.path).success()
            #expect(shown["pin"]?["policy"] == changed["pin_policy"])
        }
    }
}
