import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

extension SDKScene {
    static let pin = "83517"
    static let wrongPIN = "71538"

    func setPIN(_ digits: String = pin) async throws {
        try await enrollment.setPIN(try PIN(digits))
    }

    /// A challenge that only a PIN approves, opened.
    func openTyped() async throws -> (asked: Asked, question: OpenedChallenge) {
        let asked = try await ask(["type": "typed"])
        return (asked, try await open(asked))
    }

    /// What an approval by a PIN comes to.
    func approve(_ question: OpenedChallenge, _ digits: String = pin, number: String? = nil) async -> String {
        await code { try await question.approve(with: .pin(try PIN(digits)), number: number) }
    }

    /// The receipt of a challenge, verified with the certificate as it was, both as the server hands them out.
    func receipt(_ asked: Asked) async throws -> VerifiedReceipt {
        let receipt = try await shop.call(.GET, "\(asked.path)/receipt")
        let certificate = try await shop.call(.GET, "\(asked.path)/receipt?format=certificate")
        return try VerifiedReceipt(
            message: String(decoding: receipt.body, as: UTF8.self),
            certificate: try Certificate(armored: String(decoding: certificate.body, as: UTF8.self)),
            now: server.clock.now.unixSeconds)
    }
}

@Suite("Approving with a PIN", .timeLimit(.minutes(15)))
struct PINTests {
    @Test("A PIN that was set approves, and the receipt is signed by the key that is derived from it")
    func approval() async throws {
        try await SDKScene.with { scene in
            #expect(try await scene.enrollment.methods().pin == .none)
            try await scene.setPIN()
            let methods = try await scene.enrollment.methods()
            #expect(methods.pin == .set && methods.attemptsLeft == 5 && methods.pinPolicy.cost == 15)
            let asked = try await scene.ask(["type": "typed", "number_entry": true])
            let question = try await scene.open(asked)
            #expect(question.methods == [.pin] && question.attemptsLeft == 5)
            #expect(await scene.approve(question, number: asked.number) == "")
            #expect(try await scene.status(of: asked).state == "approved")
            let verified = try await scene.receipt(asked)
            #expect(verified.receipt.decision == .approved(.pin, number: EntryNumber(asked.number)))
            #expect(verified.signer.fingerprint != scene.enrollment.fingerprint)
            #expect(verified.receipt.device == scene.enrollment.fingerprint)
        }
    }

    @Test("A wrong PIN says how often is left, the same challenge is answered again, and a right one starts anew")
    func wrong() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            for round in 0..<2 {
                let (asked, question) = try await scene.openTyped()
                for left in [4, 3, 2, 1] {
                    let error = await #expect(throws: CountersignError.self) {
                        try await question.approve(with: .pin(try PIN(SDKScene.wrongPIN)))
                    }
                    guard case .pinIncorrect(let attemptsLeft) = error else {
                        Issue.record("\(String(describing: error))")
                        return
                    }
                    #expect(attemptsLeft == left, "round \(round)")
                    #expect(try await scene.status(of: asked) == ChallengeStatus(state: "pending", reason: nil))
                }
                #expect(try await scene.enrollment.methods().attemptsLeft == 1)
                #expect(await scene.approve(question) == "")
                #expect(try await scene.enrollment.methods().attemptsLeft == 5)
            }
        }
    }

    @Test("Where its type takes fewer wrong answers, that is what is left of a challenge")
    func limitOfType() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let type: JSONValue = ["methods": ["pin"], "number_entry": false, "attempts": 2]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/twice", type).success()
            let asked = try await scene.ask(["type": "twice"])
            let question = try await scene.open(asked)
            #expect(question.attemptsLeft == 2)
            await #expect {
                try await question.approve(with: .pin(try PIN(SDKScene.wrongPIN)))
            } throws: { error in
                guard case CountersignError.pinIncorrect(attemptsLeft: 1) = error else { return false }
                return true
            }
            #expect(try await scene.open(asked).attemptsLeft == 1)
            #expect(try await scene.enrollment.methods().attemptsLeft == 4)
            #expect(await scene.approve(question, SDKScene.wrongPIN) == "challenge_ended")
        }
    }

    @Test("At the limit the PIN is locked, and not even the right one is told from a wrong one; no is still heard")
    func locked() async throws {
        try await SDKScene.with(pinPolicy: ["attempts": 3]) { scene in
            try await scene.setPIN()
            let (asked, question) = try await scene.openTyped()
            let both = try await scene.ask(["type": "payment"])
            for _ in 0..<3 { #expect(await scene.approve(question, SDKScene.wrongPIN) == "pin_incorrect") }
            // Nobody else could answer: it has failed, and the shop is not told which element was wrong.
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "failed", reason: "too_many_attempts"))
            #expect(await scene.approve(question) == "challenge_ended")
            #expect(try await scene.enrollment.methods().pin == .locked)
            #expect(try await scene.status(of: both).state == "pending")
            let refused = try await scene.shop.call(
                .POST, "/v1/challenges", ["user": .string(scene.user), "type": "typed", "message": "Pay?"])
            #expect(refused.code == "no_enrollment")
            #expect(await code { try await scene.enrollment.setPIN(try PIN("24680135")) } == "pin_locked")
            #expect(await code { try await scene.enrollment.removePIN(try PIN(SDKScene.pin)) } == "pin_locked")
            try await scene.open(both).deny()
            #expect(try await scene.status(of: both).state == "denied")
        }
    }

    @Test("A locked PIN approves nothing that another device, or another method, still could")
    func lockedBesideOthers() async throws {
        try await SDKScene.with(pinPolicy: ["attempts": 1]) { scene in
            let either: JSONValue = ["methods": ["pin", "confirm"], "denial_pause": 0]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/either", either).success()
            try await scene.setPIN()
            let asked = try await scene.ask(["type": "either", "number_entry": true])
            let question = try await scene.open(asked)
            #expect(await scene.approve(question, SDKScene.wrongPIN, number: asked.number) == "pin_incorrect")
            #expect(await scene.approve(question, number: asked.number) == "pin_locked")
            #expect(try await scene.status(of: asked).state == "pending")
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(try await scene.status(of: asked).state == "approved")
            #expect(
                try await scene.receipt(asked).receipt.decision
                    == .approved(.confirm, number: EntryNumber(asked.number)))
        }
    }

    @Test("Where the client says so, the enrollment is removed at the limit, and the device wipes it")
    func removedAtLimit() async throws {
        try await SDKScene.with(pinPolicy: ["attempts": 2, "at_limit": "remove"]) { scene in
            try await scene.setPIN()
            let (asked, question) = try await scene.openTyped()
            for _ in 0..<2 { #expect(await scene.approve(question, SDKScene.wrongPIN) == "pin_incorrect") }
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "failed", reason: "device_removed"))
            #expect(await scene.approve(question) == "device_deregistered")
            #expect(try await !scene.holdsKeys())
            #expect(await scene.authenticator.enrollments.isEmpty)
        }
    }

    @Test("A changed PIN counts alone; receipts of the earlier one stay good")
    func changed() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let (first, question) = try await scene.openTyped()
            #expect(await scene.approve(question) == "")
            var certificates: [Certificate] = []
            try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            let (second, again) = try await scene.openTyped()
            #expect(await scene.approve(again) == "pin_incorrect")
            #expect(await scene.approve(again, "90210573") == "")
            for asked in [first, second] {
                #expect(try await scene.receipt(asked).receipt.decision == .approved(.pin, number: nil))
                let certificate = try await scene.shop.call(.GET, "\(asked.path)/receipt?format=certificate")
                certificates.append(try Certificate(armored: String(decoding: certificate.body, as: UTF8.self)))
            }
            // The certificate has grown: the newer one verifies the older receipt, its key being superseded since.
            let receipt = try await scene.shop.call(.GET, "\(first.path)/receipt")
            let verified = try VerifiedReceipt(
                message: String(decoding: receipt.body, as: UTF8.self), certificate: certificates[1],
                now: scene.server.clock.now.unixSeconds)
            // Also where both were in the same second.
            let revokedAt = try #require(verified.signer.revokedAt)
            #expect(revokedAt > verified.receipt.answeredAt.unixSeconds)
            #expect(certificates[0].subkeys.count == 3 && certificates[1].subkeys.count == 4)
        }
    }

    @Test("A wrong old PIN counts as any other, and changes nothing")
    func changedWithWrongPIN() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            #expect(
                await code {
                    try await scene.enrollment.changePIN(from: try PIN(SDKScene.wrongPIN), to: try PIN("90210573"))
                } == "pin_incorrect")
            #expect(await code { try await scene.enrollment.removePIN(try PIN(SDKScene.wrongPIN)) } == "pin_incorrect")
            #expect(try await scene.enrollment.methods().attemptsLeft == 3)
            let (_, question) = try await scene.openTyped()
            #expect(question.attemptsLeft == 3)
            #expect(await scene.approve(question) == "")
        }
    }

    @Test("A removed PIN approves nothing, and another one can be set only with authority")
    func removed() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let (asked, question) = try await scene.openTyped()
            try await scene.enrollment.removePIN(try PIN(SDKScene.pin))
            #expect(try await scene.enrollment.methods().pin == .none)
            #expect(await scene.approve(question) == "pin_not_set")
            #expect(try await scene.status(of: asked).state == "pending")
            scene.server.clock.advance(seconds: 600)
            #expect(await code { try await scene.setPIN() } == "authority_needed")
            let stranger = try await scene.shop.makeUser()
            let others = try await scene.shop.makeTicket(for: stranger)
            #expect(
                await code { try await scene.enrollment.setPIN(try PIN("83517"), authority: .ticket(others)) }
                    == "authority_needed")
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            try await scene.enrollment.setPIN(try PIN("83517"), authority: .ticket(ticket))
            // Spent by it.
            #expect(await code { _ = try await scene.authenticator.enroll(with: .ticket(ticket)) } == "ticket_used")
            let (_, another) = try await scene.openTyped()
            #expect(await scene.approve(another) == "")
        }
    }

    @Test(
        "What the policy forbids is not sent",
        arguments: [
            ("4711", PINViolation.length), ("123456789", .length), ("117141", .repeats), ("23456", .sequence),
            ("864208", .sequence), ("90123", .sequence), ("24680135", .blocked),
        ])
    func policy(_ digits: String, _ violation: PINViolation) async throws {
        let policy: JSONObject = ["max_length": 8, "max_repeats": 3, "blocked": ["24680135"]]
        try await SDKScene.with(pinPolicy: policy) { scene in
            let error = await #expect(throws: CountersignError.self) {
                try await scene.enrollment.setPIN(try PIN(digits))
            }
            guard case .pinPolicy(violation) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(scene.transport.bodies(to: "/methods").isEmpty)
            try await scene.setPIN("83517")
        }
    }

    @Test("Set, not set, set already: each has its error, and nothing is sent")
    func states() async throws {
        try await SDKScene.with { scene in
            let change = { @Sendable in
                try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            }
            #expect(await code(change) == "pin_not_set")
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            #expect(await scene.approve(question, number: asked.number) == "not_handleable")
            try await scene.setPIN()
            #expect(await code { try await scene.setPIN("90210573") } == "pin_already_set")
            let (_, typed) = try await scene.openTyped()
            #expect(await code { try await typed.approve(with: .confirmation) } == "not_handleable")
            #expect(scene.transport.bodies(to: "/methods").count == 1)
        }
    }

    @Test("A reply that is lost counts no PIN twice", arguments: [SDKScene.pin, SDKScene.wrongPIN])
    func lostAnswer(_ digits: String) async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let (asked, question) = try await scene.openTyped()
            scene.transport.loseReplies(2, from: "/answer")
            #expect(await scene.approve(question, digits) == (digits == SDKScene.pin ? "" : "pin_incorrect"))
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(scene.transport.bodies(to: "/answer").count == 3)
            #expect(try await scene.enrollment.methods().attemptsLeft == (digits == SDKScene.pin ? 5 : 4))
            #expect(try await scene.status(of: asked).state == (digits == SDKScene.pin ? "approved" : "pending"))
            #expect(try await scene.vault.records(of: scene.enrollment.id) == ["app", "enrollment", "pin"])
        }
    }

    @Test("A change whose reply is lost is made once, or counted once", arguments: [SDKScene.pin, SDKScene.wrongPIN])
    func lostChange(_ digits: String) async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let before = scene.transport.bodies(to: "/methods").count
            scene.transport.happen { request, send in
                let response = try await send(request)
                let sent = scene.transport.bodies(to: "/methods").count - before
                if request.method == "POST", (1...2).contains(sent) { throw FaultyTransport.Lost() }
                return response
            }
            let change = await code {
                try await scene.enrollment.changePIN(from: try PIN(digits), to: try PIN("90210573"))
            }
            let isRight = digits == SDKScene.pin
            #expect(change == (isRight ? "" : "pin_incorrect"))
            let bodies = scene.transport.bodies(to: "/methods").dropFirst(before)
            #expect(bodies.count == 3 && Set(bodies).count == 1)
            #expect(try await scene.enrollment.methods().attemptsLeft == (isRight ? 5 : 4))
            let (_, question) = try await scene.openTyped()
            #expect(await scene.approve(question, isRight ? "90210573" : SDKScene.pin) == "")
        }
    }

    @Test("Two changes at once do not take each other's keys: one is made, the other is told to wait for it")
    func atOnce() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let changes = ["90210573", "57391024"].map { new in
                Task {
                    await code {
                        try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN(new))
                    }
                }
            }
            let told = [await changes[0].value, await changes[1].value]
            #expect(told.sorted() == ["", "configuration_invalid"])
            let (_, question) = try await scene.openTyped()
            #expect(await scene.approve(question, told[0] == "" ? "90210573" : "57391024") == "")
            try await scene.enrollment.changePIN(
                from: try PIN(told[0] == "" ? "90210573" : "57391024"), to: try PIN(SDKScene.pin))
        }
    }

    @Test("An app that ends before the reply to a change finds out afterwards which PIN counts")
    func endedWhileChanging() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            scene.transport.happen { request, send in
                let response = try await send(request)
                if request.method == "POST", request.url.path.hasSuffix("/methods") { throw FaultyTransport.Lost() }
                return response
            }
            let change = await code {
                try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            }
            #expect(change == "network")
            // Setting it, and four times the same change.
            #expect(scene.transport.bodies(to: "/methods").count == 5)
            #expect(Set(scene.transport.bodies(to: "/methods")).count == 2)
            #expect(try await scene.vault.records(of: scene.enrollment.id).contains("method-change"))
            scene.transport.happen(nil)
            let app = try await scene.relaunched()
            let asked = try await scene.ask(["type": "typed"])
            let question = try await app.open(asked.id, for: scene.enrollment.id)
            #expect(await code { try await question.approve(with: .pin(try PIN("90210573"))) } == "")
            #expect(try await scene.vault.records(of: scene.enrollment.id) == ["app", "enrollment", "pin"])
            #expect(try await scene.enrollment.methods().attemptsLeft == 5)
        }
    }
}
