import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("Answering by the SDK")
struct AnsweringTests {
    static let everything = JSONObject([
        "secure_message": "Pay EUR 1,250.00?\n\nFor the espresso machine.",
        "details": [["label": "Amount", "value": "EUR 1,250.00"], ["label": "Payee", "value": "ACME GmbH"]],
        "signing_data": "order 4711", "context": ["ip": "203.0.113.7"],
    ])

    @Test("An opened challenge shows exactly what was asked, and that is what is signed")
    func content() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask(Self.everything)
            let question = try await scene.open(asked)
            #expect(question.id == asked.id)
            #expect(question.client.name == "ACME Shop" && question.client.id == scene.shop.clientID)
            #expect(question.message == "Pay EUR 1,250.00?\n\nFor the espresso machine.")
            #expect(question.details.map(\.label) == ["Amount", "Payee"])
            #expect(question.details.map(\.value) == ["EUR 1,250.00", "ACME GmbH"])
            #expect(question.signingData == "order 4711")
            #expect(question.context?.contains("203.0.113.7") == true)
            #expect(question.type == "payment" && question.numberLength == 6)
            try await question.approve(with: .confirmation, number: asked.number)
            let receipt = try await scene.shop.call(.GET, "\(asked.path)/receipt")
            let verified = try VerifiedReceipt(
                message: String(decoding: receipt.body, as: UTF8.self),
                certificate: try Certificate(armored: scene.enrollment.certificate),
                now: scene.server.clock.now.unixSeconds)
            let lines = verified.receipt.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let added = ["decision: ", "method: ", "number: ", "answered: "]
            #expect(lines.filter { line in !added.contains { line.hasPrefix($0) } } == question.signedLines)
            #expect(lines.contains("number: \(asked.number)") && lines.contains("decision: approved"))
        }
    }

    @Test(
        "A number that is asked for must be six digits", arguments: [nil, "", "12345", "1234567", "12345a", "１２３４５６"])
    func numberRequired(_ number: String?) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            #expect(await code { try await question.approve(with: .confirmation, number: number) } == "number_required")
            // Nothing was sent: the right number still counts.
            #expect(scene.transport.requests(to: "/answer").isEmpty)
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(try await scene.status(of: asked).state == "approved")
        }
    }

    @Test("A wrong number fails the challenge")
    func numberIncorrect() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            let wrong = await code {
                try await question.approve(with: .confirmation, number: asked.wrongNumber)
            }
            #expect(wrong == "number_incorrect")
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "failed", reason: "wrong_number"))
            // The challenge has failed: the right number comes too late.
            let late = await code { try await question.approve(with: .confirmation, number: asked.number) }
            #expect(late == "challenge_ended")
        }
    }

    @Test("Where no number is asked for, none is needed, and one given is left out")
    func noNumber() async throws {
        try await SDKScene.with { scene in
            let policy: JSONValue = ["number_entry": false]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/bare", policy).success()
            for number in [nil, "123456"] {
                let asked = try await scene.ask(["type": "bare"])
                let question = try await scene.open(asked)
                #expect(question.numberLength == nil)
                try await question.approve(with: .confirmation, number: number)
                #expect(try await scene.status(of: asked).state == "approved")
            }
        }
    }

    @Test("Denying and reporting need no number, and are told apart", arguments: ["declined", "reported"])
    func sayingNo(_ reason: String) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            if reason == "declined" { try await question.deny() } else { try await question.report() }
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "denied", reason: reason))
        }
    }

    @Test(
        "A challenge that has ended says how",
        arguments: [
            ("answered", "already_answered"), ("expired", "challenge_expired"), ("cancelled", "challenge_ended"),
            ("removed", "device_deregistered"),
        ])
    func ended(_ how: String, _ expected: String) async throws {
        try await SDKScene.with { scene in
            let other = try await TestPhone.enrolled(for: scene.user, by: scene.shop, at: scene.server)
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            switch how {
            case "answered": _ = try await other.answer("\(asked.id)", .denied).success()
            case "expired": scene.server.clock.advance(seconds: 121)
            case "cancelled": _ = try await scene.shop.call(.DELETE, asked.path).success()
            default: try await scene.removeAtServer()
            }
            let answer = await code { try await question.approve(with: .confirmation, number: asked.number) }
            #expect(answer == expected)
            let again = await code { _ = try await scene.open(asked) }
            #expect(again == (how == "removed" ? "not_enrolled" : expected))
        }
    }

    @Test("An answer given twice by the same app is answered already")
    func twice() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            try await question.deny()
            let again = await code { try await question.deny() }
            #expect(again == "already_answered")
            let late = await code { try await question.approve(with: .confirmation, number: asked.number) }
            #expect(late == "already_answered")
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }

    @Test("A challenge of somebody else is not found")
    func notOurs() async throws {
        try await SDKScene.with { scene in
            let stranger = try await scene.shop.makeUser()
            _ = try await TestPhone.enrolled(for: stranger, by: scene.shop, at: scene.server)
            let asked = try await scene.ask(user: stranger)
            #expect(await code { _ = try await scene.open(asked) } == "challenge_not_found")
        }
    }

    @Test(
        "A clock that goes wrong by ten minutes is corrected, and receipts say the right time",
        arguments: [-600, 600] as [Int64])
    func correctedClock(_ seconds: Int64) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            scene.clock.set(aheadBy: seconds)
            let app = try await scene.relaunched()
            #expect(try await app.pendingChallenges().map(\.id) == [asked.id])
            let question = try await app.open(asked.id, for: scene.enrollment.id)
            try await question.approve(with: .confirmation, number: asked.number)
            let receipt = try await scene.shop.call(.GET, "\(asked.path)/receipt")
            let signed = try CleartextMessage(parsing: String(decoding: receipt.body, as: UTF8.self))
            let answered = try Receipt(parsing: signed.text).answeredAt
            #expect(abs(answered.seconds - scene.server.clock.now.seconds) < 30)
        }
    }

    @Test(
        "A clock that goes wrong by more than a day is reported, and is not the server's word",
        arguments: [-90_000, 90_000] as [Int64])
    func hopelessClock(_ seconds: Int64) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            scene.clock.set(aheadBy: seconds)
            let app = try await scene.relaunched()
            #expect(await code { _ = try await app.pendingChallenges() } == "clock_skew")
            #expect(await app.connectionState == .clockSkew)
            _ = question
            #expect(try await scene.holdsKeys())
            // Once the clock is right, all is well.
            scene.clock.set(aheadBy: 0)
            #expect(try await app.pendingChallenges().map(\.id) == [asked.id])
            #expect(await app.connectionState == .online)
        }
    }

    @Test("A cancelled call says so, and leaves nothing half done")
    func cancelled() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            await scene.denyInVain(question)
            try await question.deny()
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }
}
