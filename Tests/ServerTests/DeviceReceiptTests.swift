import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("The server takes exactly the text it expects")
struct DeviceReceiptTests {
    /// One change to the lines of a right receipt.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout [String]) -> Void

        init(_ description: String, _ apply: @escaping @Sendable (inout [String]) -> Void) {
            testDescription = description
            self.apply = apply
        }

        /// Replaces the first line that begins with a prefix.
        static func line(_ prefix: String, _ replacement: String...) -> Change {
            Change("\(prefix)… becomes \(replacement)") { lines in
                guard let index = lines.firstIndex(where: { $0.hasPrefix(prefix) }) else { return lines = [] }
                lines.replaceSubrange(index...index, with: replacement)
            }
        }

        /// Replaces a part of the first line that begins with a prefix.
        static func part(_ prefix: String, _ part: String, _ replacement: String) -> Change {
            Change("\(prefix): \(part) becomes \(replacement)") { lines in
                guard let index = lines.firstIndex(where: { $0.hasPrefix(prefix) && $0.contains(part) }) else {
                    return lines = []
                }
                lines[index] = lines[index].replacing(part, with: replacement)
            }
        }
    }

    static let changes: [Change] = [
        .line("Countersign receipt v1", "Countersign receipt v2"), .line("Countersign receipt v1"),
        .line("Countersign receipt v1", "countersign receipt v1"),
        .line("issuer: ", "issuer: https://evil.example.com"), .part("issuer: ", "http://", "https://"),
        .line("issuer: "),
        .line("challenge: ", "challenge: chl_00000000000000000000000000"), .line("challenge: "),
        .line("nonce: ", "nonce: \(String(repeating: "0", count: 64))"), .line("nonce: ", "nonce: "),
        .part("client: ", "ACME Shop", "ACME Shop 2"), .part("client: ", "ACME", "acme"),
        .part("client: ", "cli_", "cli_0"), .line("client: ", "client: ACME Shop (cli_00000000000000000000000000)"),
        .line("user: ", "user: usr_00000000000000000000000000"), .line("user: "),
        .line("device: ", "device: \(String(repeating: "A", count: 40))"), .line("device: "),
        .line("decision: ", "decision: denied"), .line("decision: ", "decision: Approved"),
        .line("decision: ", "decision: maybe"), .line("decision: "),
        .line("method: ", "method: pin"), .line("method: ", "method: biometric"), .line("method: "),
        .line("number: "), .line("number: ", "number: 12345"), .line("number: ", "number: 1234567"),
        .line("number: ", "number: 12345a"), .line("number: ", "number: １２３４５６"), .line("number: ", "number: "),
        .line("type: ", "type: confirm"), .line("type: "),
        .line("context: "), .part("context: ", "203.0.113.7", "203.0.113.8"),
        .part("context: ", "Firefox", "Chrome"),
        .part("asked: ", "Z", ".000Z"), .line("asked: ", "asked: 2026-11-20T10:15:02Z"), .line("asked: "),
        .line("answered: "), .part("answered: ", "Z", ".000Z"), .part("answered: ", "Z", "+00:00"),
        .part("detail: ", "1,250.00", "1.00"), .part("detail: ", "Amount", "amount"),
        .part("detail: ", "EUR ", "EUR  "), .line("detail: Amount"), .line("detail: Payee"),
        .line("detail: Payee", "detail: Payee = ACME GmbH, DE89 3704", "detail: Order = 4711"),
        Change("the details change places") { lines in
            guard let index = lines.firstIndex(where: { $0.hasPrefix("detail: Amount") }) else { return lines = [] }
            lines.swapAt(index, index + 1)
        },
        .line("signing-data: "), .line("signing-data: ", "signing-data: sha256:\(String(repeating: "0", count: 64))"),
        Change("the hash of the signing data is in upper case") { lines in
            lines = lines.map {
                $0.hasPrefix("signing-data: ") ? "signing-data: sha256:" + $0.dropFirst(21).uppercased() : $0
            }
        },
        .line("message:", "message: "), .line("message:"),
        .part("Pay EUR", "1,250.00", "1,250.01"), .part("The café", "café", "cafe\u{301}"),
        .part("The café", "machine.", "machine"),
        Change("a line is added to the message") { $0.append("Thank you.") },
        Change("an empty line ends the message") { $0.append("") },
        Change("the message is missing") { lines in
            lines = Array(lines.prefix { $0 != "message:" }) + ["message:"]
        },
        Change("a blank ends a line") { $0[1] += " " },
        Change("an unknown line") { $0.insert("logo: sha256:00", at: 5) },
        Change("a line stands twice") { $0.insert($0[1], at: 1) },
        Change("two lines change places") { $0.swapAt(1, 2) },
        Change("something stands before it") { $0.insert("", at: 0) },
        Change("lines end in CR LF twice over") { lines in lines = lines.map { "\($0)\r" } },
        Change("nothing is left") { $0 = [""] },
    ]

    @Test("A receipt altered in one place is refused, and changes nothing", arguments: changes)
    func altered(_ change: Change) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let receipt = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number))
            let right = receipt.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            var lines = right
            change.apply(&lines)
            #expect(!lines.isEmpty, "the change found no line to alter")
            #expect(lines.joined(separator: "\n").utf8.elementsEqual(receipt.text.utf8) == false)
            let sealed = try await scene.phone.seal(lines.joined(separator: "\n"))
            let reply = try await scene.phone.answer(asked.id, message: sealed)
            #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            try await scene.expectUntouched(asked)
        }
    }

    @Test("There is a change for every line of a receipt that has every line there is")
    func everyLineIsAltered() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let right = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            var missing = Set(right)
            for change in Self.changes {
                var lines = right
                change.apply(&lines)
                // Changes to the whole text prove nothing of a line.
                let kept = Set(lines)
                if right.count(where: { !kept.contains($0) }) == 1 { missing.formIntersection(kept) }
            }
            // An empty line of the message is what the lines around it leave.
            #expect(missing.filter { !$0.isEmpty }.isEmpty, "\(missing)")
            let names = right.dropFirst().prefix { $0 != "message:" }.compactMap { $0.split(separator: ":").first }
            #expect(Set(names).count == 15, "\(names)")
        }
    }

    @Test("A denial with method and number is refused", arguments: ["denied", "reported"])
    func denialWithMethod(_ decision: String) async throws {
        try await Self.expectRefused { question, scene, asked in
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            return text.replacing("decision: approved", with: "decision: \(decision)")
        }
    }

    @Test("A receipt for another challenge of the same user is refused")
    func otherChallenge() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let other = try await scene.ask()
            let question = try await scene.phone.open(other.id).question
            _ = try await scene.phone.open(asked.id)
            let sealed = try await scene.phone.seal(
                scene.phone.receipt(of: question, .approved(.confirm, number: other.number)).text)
            let reply = try await scene.phone.answer(asked.id, message: sealed)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            #expect(try await scene.status(of: other).state == "pending")
            try await scene.expectUntouched(asked)
        }
    }

    @Test("Bytes that decided one challenge decide no other")
    func bytesOfAnotherAnswer() async throws {
        try await DeviceScene.with { scene in
            let (first, second) = (try await scene.ask(), try await scene.ask())
            let message = try await scene.approval(of: first)
            #expect(try await scene.phone.answer(first.id, message: message).json["state"] == "approved")
            _ = try await scene.phone.open(second.id)
            let reply = try await scene.phone.answer(second.id, message: message)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(second)
        }
    }

    @Test("A number where none was asked for is refused")
    func addedNumber() async throws {
        try await DeviceScene.with { scene in
            let policy: JSONValue = ["number_entry": false]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/bare", policy).success()
            let asked = try await scene.shop.ask(scene.user, ["type": "bare"])
            #expect(asked["number"] == nil)
            let id = try #require(asked["id"]?.string)
            let question = try await scene.phone.open(id).question
            for number in [nil, EntryNumber("123456")] {
                let receipt = scene.phone.receipt(of: question, .approved(.confirm, number: number))
                let reply = try await scene.phone.answer(id, message: try await scene.phone.seal(receipt.text))
                if number == nil {
                    #expect(reply.json["state"] == "approved", "\(reply)")
                } else {
                    #expect(reply.refusal == Refusal(409, "already_ended"), "\(reply)")
                }
            }
            let second = try #require(try await scene.shop.ask(scene.user, ["type": "bare"])["id"]?.string)
            let again = try await scene.phone.open(second).question
            let receipt = scene.phone.receipt(of: again, .approved(.confirm, number: EntryNumber("123456")))
            let reply = try await scene.phone.answer(second, message: try await scene.phone.seal(receipt.text))
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
        }
    }

    @Test("A context where none was given is refused")
    func addedContext() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask([:])
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let altered = text.replacing("\nasked: ", with: "\ncontext: Firefox\nasked: ")
            let reply = try await scene.phone.answer(asked.id, message: try await scene.phone.seal(altered))
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test(
        "`answered` lies between the first fetch and now, give or take 60 seconds",
        arguments: [(-91, false), (-90, true), (0, true), (60, true), (61, false)])
    func answeredAt(_ offset: Int64, _ isTaken: Bool) async throws {
        try await DeviceScene.with { scene in
            // Thirty seconds pass between the first fetch, whose second is known, and the answer.
            let (asked, fetched, question) = try await scene.server.clock.stopped { second in
                let asked = try await scene.ask()
                return (asked, second, try await scene.phone.open(asked.id).question)
            }
            scene.server.clock.advance(seconds: 30)
            let reply = try await scene.server.clock.stopped { second in
                let anchor = offset < 0 ? fetched + 30 : second
                let receipt = Receipt(
                    of: question, user: scene.phone.user, device: scene.phone.certificate.fingerprint,
                    decision: .approved(.confirm, number: asked.number),
                    answeredAt: Timestamp(seconds: anchor + offset))
                return try await scene.phone.answer(asked.id, message: try await scene.phone.seal(receipt.text))
            }
            if isTaken {
                #expect(reply.json["state"] == "approved", "\(reply)")
                #expect(try await scene.status(of: asked).state == "approved")
            } else {
                #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
                try await scene.expectUntouched(asked)
            }
        }
    }

    /// Sends a text that must be refused.
    private static func expectRefused(
        _ text: @escaping @Sendable (Question, DeviceScene, DeviceScene.Asked) async throws -> String
    ) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let sealed = try await scene.phone.seal(try await text(question, scene, asked))
            let reply = try await scene.phone.answer(asked.id, message: sealed)
            #expect(reply.refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(asked)
        }
    }
}
