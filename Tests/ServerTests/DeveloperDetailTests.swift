import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

@Suite("What a refusal tells who writes a device")
struct DeveloperDetailTests {
    /// An answer whose text is of another payment.
    private static func refused(_ scene: DeviceScene) async throws -> Reply {
        let asked = try await scene.ask()
        let question = try await scene.phone.open(asked.id).question
        let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
        return try await scene.phone.answer(
            asked.id, message: try await scene.phone.seal(text.replacing("1,250.00", with: "1.00")))
    }

    @Test("In development mode a refused answer says which check failed")
    func development() async throws {
        try await DeviceScene.with { scene in
            let reply = try await Self.refused(scene)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            #expect(
                reply.json["detail"] == "the signed text is not the receipt of this challenge, byte for byte")
            let asked = try await scene.ask()
            _ = try await scene.phone.open(asked.id)
            let cut = try await scene.phone.answer(
                asked.id, message: Array(try await scene.approval(of: asked).dropLast()))
            #expect(cut.json["detail"] == "the message cannot be read: it ends in the middle")
        }
    }

    @Test("Elsewhere it says nothing but the code")
    func elsewhere() async throws {
        try await DeviceScene.with(issuer: Issuer("https://login.example.com")) { scene in
            let reply = try await Self.refused(scene)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            #expect(reply.json["detail"] == nil)
        }
    }

    @Test("In development mode the log names the check that an answer or a request failed; elsewhere the code alone")
    func logged() async throws {
        for issuer in [nil, Issuer("https://login.example.com")] {
            let log = LogBook()
            try await DeviceScene.with(issuer: issuer, logger: log.logger) { scene in
                #expect(try await Self.refused(scene).refusal == Refusal(422, "answer_invalid"))
                let ofAnother = try await scene.phone.signature(.GET, "/v1/enrollments/self/methods")
                let reply = try await scene.server.send(.GET, "/v1/enrollments/self", headers: ofAnother)
                #expect(reply.refusal == Refusal(401, "signature_invalid"))
                // Of a request it says this everywhere: who signs it learns nothing of anybody's secrets.
                #expect(reply.json["detail"] == "the signature does not verify")
            }
            for (code, words) in [
                ("answer_invalid", "the signed text is not the receipt of this challenge, byte for byte"),
                ("signature_invalid", "the signature does not verify"),
            ] {
                let entries = log.entries.filter { $0.hasPrefix("notice refused code=\(code) ") }
                let detail = issuer == nil ? "detail=\(words) " : ""
                #expect(entries.count == 1)
                let line = "notice refused code=\(code) \(detail)request="
                #expect(entries.allSatisfy { $0.hasPrefix(line) }, "\(entries)")
            }
        }
    }

    @Test("A refused certificate is told the rule in words, never by a name of ours")
    func certificates() async throws {
        try await DeviceScene.with { scene in
            let phone = try await TestPhone(
                invitation: try await scene.shop.makeTicket(for: try await scene.shop.makeUser()), server: scene.server)
            let bytes = phone.certificate.encoded
            for (sent, detail) in [
                ([], "it ends in the middle"), (Array(bytes.dropLast(9)), "it ends in the middle"),
                (bytes.dropLast() + [bytes[bytes.count - 1] ^ 1], "a signature does not verify"),
                (bytes + bytes, "there is the primary key where none may be"),
                (Array(bytes.prefix(2 + Int(bytes[1]))), "a user ID is not bound by the primary key"),
            ] as [([UInt8], String)] {
                var request = try #require(try phone.enrollmentRequest.object)
                request["certificate"] = .string(Base64.encode(sent))
                let reply = try await phone.send(
                    .POST, "/v1/enrollments", .object(request), keyID: "\(phone.certificate.fingerprint)")
                #expect(reply.refusal == Refusal(422, "certificate_invalid"))
                #expect(reply.json["detail"] == .string("the certificate cannot be read: \(detail)"))
            }
        }
    }
}
