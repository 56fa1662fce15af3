import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

@Suite("What can be asked can be answered, and its receipt be verified")
struct AnswerableTests {
    /// A message of so many octets, its lines as long as they may be.
    private static func message(_ size: Int) -> String {
        var text = ""
        while text.utf8.count < size {
            if !text.isEmpty { text += "\n" }
            text += String(repeating: "x", count: min(DisplayLimits.lineSize, size - text.utf8.count))
        }
        return text
    }

    @Test("At the limit a challenge is asked, fetched, answered, and its receipt verified, by GnuPG too")
    func atTheLimit() async throws {
        try await DeviceScene.with { scene in
            let text = Self.message(DisplayLimits.signedSize)
            #expect(text.utf8.count == DisplayLimits.signedSize)
            let asked = try await scene.ask(["secure_message": .string(text)])
            let reply = try await scene.phone.answer(asked.id, message: try await scene.approval(of: asked))
            #expect(reply.json["state"] == "approved", "\(reply)")
            let served = try await scene.shop.call(.GET, "\(asked.path)/receipt")
            let receipt = String(decoding: served.body, as: UTF8.self)
            let verified = try VerifiedReceipt(
                message: receipt, certificate: scene.phone.certificate, now: scene.server.clock.now.unixSeconds)
            #expect(verified.receipt.message.text == text)
            guard GPG.isInstalled else { return }
            let gpg = try GPG()
            try gpg.run("--import", try gpg.folder.write("certificate", scene.phone.certificate.encoded))
            let said = try gpg.run("--status-fd", "1", "--verify", try gpg.folder.write("receipt", receipt.utf8))
            #expect(said.status == 0 && said.output.contains("] GOODSIG "), "\(said.output.suffix(500))")
        }
    }

    @Test("Beyond it nothing is asked: not a message, not with its details, not a line that GnuPG would not read")
    func beyond() async throws {
        try await DeviceScene.with { scene in
            let line = String(repeating: "x", count: DisplayLimits.lineSize)
            let detail: JSONValue = ["label": "a", "value": "b"]
            for (members, pointer, reason) in [
                (
                    ["secure_message": .string(Self.message(DisplayLimits.signedSize + 1))], "/secure_message",
                    "too_long"
                ),
                (
                    ["secure_message": .string(Self.message(DisplayLimits.signedSize - 13)), "details": [detail]],
                    "/details", "too_long"
                ),
                (["secure_message": .string("a\n\(line)x")], "/secure_message", "line_too_long"),
                (["secure_message": .string(Self.message(200_000))], "/secure_message", "too_long"),
            ] as [(JSONObject, String, String)] {
                var body = JSONObject(["user": .string(scene.user), "type": "payment", "message": "Pay?"])
                for (name, value) in members.members { body[name] = value }
                let reply = try await scene.shop.call(.POST, "/v1/challenges", .object(body))
                #expect(reply.refusal == Refusal(422, "text_refused"), "\(reply)")
                #expect(reply.json["pointer"] == .string(pointer) && reply.json["reason"] == .string(reason))
            }
            let fits: JSONObject = [
                "secure_message": .string(Self.message(DisplayLimits.signedSize - 14)), "details": [detail],
            ]
            let asked = try await scene.ask(fits)
            #expect(
                try await scene.phone.answer(asked.id, message: try await scene.approval(of: asked)).json["state"]
                    == "approved")
        }
    }

    @Test("A name that looks like another is refused: of a client, and of a device when it enrolls and later")
    func names() async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            let ticket = try await scene.shop.makeTicket(for: user)
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            for (name, reason) in [
                (" ACME", "leading_blank"), ("\u{A0}ACME", "leading_blank"), ("\u{3000}ACME", "leading_blank"),
                ("AC\u{2800}ME", "invisible_character"), ("\u{2800}ACME", "invisible_character"),
            ] {
                let reply = try await scene.server.administrator.call(
                    .POST, "/v1/admin/clients", ["name": .string(name), "rights": ["challenges"]])
                #expect(reply.refusal == Refusal(422, "text_refused"), "\(reply)")
                #expect(reply.json["reason"] == .string(reason))
                for member in ["name", "model"] {
                    var device: JSONObject = ["name": "Phone", "storage": "software"]
                    device[member] = .string(name)
                    var request = try #require(try phone.enrollmentRequest.object)
                    request["device"] = .object(device)
                    let enrolled = try await phone.send(
                        .POST, "/v1/enrollments", .object(request), keyID: "\(phone.certificate.fingerprint)")
                    #expect(enrolled.refusal == Refusal(422, "invalid_member"), "\(enrolled)")
                    #expect(enrolled.json["pointer"] == .string("/device/\(member)"))
                }
            }
            #expect(try await phone.enroll().status == 201)
            for name in [" ACME", "AC\u{2800}ME"] {
                let renamed = try await phone.send(
                    .PATCH, "/v1/enrollments/self", ["device": ["name": .string(name)]])
                #expect(renamed.refusal == Refusal(422, "invalid_member"), "\(renamed)")
                #expect(renamed.json["pointer"] == "/device/name")
                let path = "/v1/admin/clients/\(scene.shop.clientID)"
                let client = try await scene.server.administrator.call(.PATCH, path, ["name": .string(name)])
                #expect(client.refusal == Refusal(422, "text_refused"), "\(client)")
            }
        }
    }

    @Test("The audit names the enrollment that has let a device in, as the OpenAPI document says")
    func approvedBy() async throws {
        try await DeviceScene.with { scene in
            let bank = try await scene.server.makeClient("Bank")
            let user = try await bank.makeUser("customer-2")
            let first = try await TestPhone.enrolled(for: user, by: bank, at: scene.server)
            let second = try await TestPhone(invitation: try await bank.makeTicket(for: user), server: scene.server)
            let made = try await second.enroll().success()
            let number = try #require(made["approval"]?["number"]?.string.flatMap { EntryNumber($0) })
            let waiting = try await second.send(.GET, "/v1/enrollments/self").success()
            let id = try #require(waiting["approval"]?.string)
            #expect(try await first.answer(id, .approved(.confirm, number: number)).json["state"] == "approved")
            let approved = try await scene.events("enrollment.approved")
            #expect(approved.map { $0["detail"]?["by"] } == [.string("\(first.enrollment)")])
        }
    }
}
