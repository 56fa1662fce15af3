import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("A challenge ends exactly once")
struct DeviceAnsweringTests {
    @Test("Denials and reports are signed too, and told apart", arguments: [Decision.denied, .reported])
    func sayingNo(_ decision: Decision) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let reply = try await scene.phone.answer(asked.id, decision)
            let reason = decision == .denied ? "declined" : "reported"
            #expect(reply.status == 200, "\(reply)")
            #expect(try ChallengeStatus(reply.json) == ChallengeStatus(state: "denied", reason: reason))
            #expect(try await scene.status(of: asked) == ChallengeStatus(state: "denied", reason: reason))
            let receipt = try await scene.shop.call(.GET, "\(asked.path)/receipt")
            let verified = try VerifiedReceipt(
                message: String(decoding: receipt.body, as: UTF8.self), certificate: scene.phone.certificate,
                now: scene.server.clock.now.unixSeconds)
            #expect(verified.receipt.decision == decision)
        }
    }

    @Test("The same bytes again get the recorded reply")
    func sameBytes() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try await scene.approval(of: asked)
            let first = try await scene.phone.answer(asked.id, message: message)
            scene.server.clock.advance(seconds: 3600)
            let again = try await scene.phone.answer(asked.id, message: message)
            #expect(first.status == 200 && again.status == 200)
            #expect(again.body == first.body)
            #expect(try await scene.events("challenge.approved").count == 1)
        }
    }

    @Test("The same bytes twenty times at once end the challenge once, with equal replies")
    func sameBytesAtOnce() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try await scene.approval(of: asked)
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await scene.phone.answer(asked.id, message: message) } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count == 20)
            #expect(replies.allSatisfy { $0.status == 200 && $0.body == replies[0].body })
            #expect(replies[0].json["state"] == "approved")
            #expect(try await scene.events("challenge.approved").count == 1)
            #expect(try await scene.events("answer.refused").isEmpty)
        }
    }

    @Test("A second answer by other bytes is told how the challenge ended")
    func secondAnswer() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let (approval, denial) = (
                try await scene.approval(of: asked),
                try await scene.phone.seal(
                    scene.phone.receipt(of: try await scene.phone.open(asked.id).question, .denied).text)
            )
            #expect(try await scene.phone.answer(asked.id, message: denial).json["state"] == "denied")
            let second = try await scene.phone.answer(asked.id, message: approval)
            #expect(second.refusal == Refusal(409, "already_ended"))
            #expect(second.json["state"] == "denied" && second.json["reason"] == "declined")
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }

    @Test("Of two phones that answer at once, one wins, and the other is told")
    func twoPhones() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let asked = try await scene.ask()
            let yes = try await scene.approval(of: asked)
            let no = try await second.seal(
                second.receipt(of: try await second.open(asked.id).question, .denied).text)
            async let first = scene.phone.answer(asked.id, message: yes)
            async let other = second.answer(asked.id, message: no)
            let replies = [try await first, try await other]
            let winner = try #require(replies.first { $0.status == 200 })
            let loser = try #require(replies.first { $0.status != 200 })
            #expect(loser.refusal == Refusal(409, "already_ended"))
            #expect(loser.json["state"] == winner.json["state"])
            #expect(try await scene.status(of: asked).state == winner.json["state"]?.string)
            let ends = try await scene.events("challenge.approved").count + scene.events("challenge.denied").count
            #expect(ends == 1)
        }
    }

    @Test("A device of another user knows nothing of the challenge")
    func strangersDevice() async throws {
        try await DeviceScene.with { scene in
            let stranger = try await scene.strangersPhone()
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let fetched = try await stranger.send(.GET, "\(asked.path)/message")
            #expect(fetched.refusal == Refusal(404, "challenge_not_found"))
            let message = try await stranger.seal(
                stranger.receipt(of: question, .approved(.confirm, number: asked.number)).text)
            let reply = try await stranger.answer(asked.id, message: message)
            #expect(reply.refusal == Refusal(404, "challenge_not_found"))
            // Even the right bytes are worth nothing from a device that was not asked.
            let stolen = try await stranger.answer(asked.id, message: try await scene.approval(of: asked))
            #expect(stolen.refusal == Refusal(404, "challenge_not_found"))
            let unknown = try await scene.phone.answer("chl_00000000000000000000000000", message: message)
            #expect(unknown.refusal == Refusal(404, "challenge_not_found"))
            #expect(unknown.json["title"] == reply.json["title"])
            try await scene.expectUntouched(asked)
        }
    }

    @Test("A phone enrolled after the asking was not asked")
    func lateDevice() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let late = try await scene.anotherPhone()
            #expect(try await late.send(.GET, "\(asked.path)/message").refusal == Refusal(404, "challenge_not_found"))
            let message = try await late.seal(
                late.receipt(of: try await scene.phone.open(asked.id).question, .denied).text)
            #expect(try await late.answer(asked.id, message: message).refusal == Refusal(404, "challenge_not_found"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test("An answer after the end is told the end", arguments: ["expired", "cancelled"])
    func afterTheEnd(_ state: String) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try await scene.approval(of: asked)
            if state == "expired" {
                scene.server.clock.advance(seconds: 120)
            } else {
                _ = try await scene.shop.call(.DELETE, asked.path).success()
            }
            let reply = try await scene.phone.answer(asked.id, message: message)
            #expect(reply.refusal == Refusal(409, "already_ended"))
            #expect(reply.json["state"] == .string(state))
            let fetched = try await scene.phone.send(.GET, "\(asked.path)/message")
            #expect(fetched.refusal == Refusal(409, "already_ended"))
            #expect(fetched.json["state"] == .string(state))
            #expect(try await scene.status(of: asked).state == state)
            #expect(try await scene.shop.call(.GET, "\(asked.path)/receipt").refusal == Refusal(404, "no_receipt"))
        }
    }

    @Test("An answer just in time counts")
    func justInTime() async throws {
        try await DeviceScene.with { scene in
            // A long life, so that the last minute of it is long enough for a busy machine.
            let type: JSONValue = ["expires_in": 3600]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/payment", type).success()
            let asked = try await scene.ask()
            _ = try await scene.phone.open(asked.id)
            scene.server.clock.advance(seconds: 3540)
            try await scene.expectUntouched(asked)
        }
    }

    @Test("A wrong number ends the challenge, without a receipt")
    func wrongNumber() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let right = try await scene.approval(of: asked)
            let wrong = try await scene.approval(of: asked, number: asked.wrongNumber)
            let reply = try await scene.phone.answer(asked.id, message: wrong)
            let failed = ChallengeStatus(state: "failed", reason: "wrong_number")
            #expect(reply.status == 200, "\(reply)")
            #expect(try ChallengeStatus(reply.json) == failed)
            #expect(try await scene.status(of: asked) == failed)
            #expect(try await scene.shop.call(.GET, "\(asked.path)/receipt").refusal == Refusal(404, "no_receipt"))
            // The right one comes too late; the wrong one's reply can be had again.
            let late = try await scene.phone.answer(asked.id, message: right)
            #expect(late.refusal == Refusal(409, "already_ended"))
            #expect(late.json["state"] == "failed")
            #expect(try await scene.phone.answer(asked.id, message: wrong).body == reply.body)
            #expect(try await scene.events("challenge.failed").count == 1)
        }
    }

    @Test("The number of another challenge is a wrong number")
    func numberOfAnother() async throws {
        try await DeviceScene.with { scene in
            let first = try await scene.ask()
            var second = try await scene.ask()
            while second.number == first.number { second = try await scene.ask() }
            let message = try await scene.approval(of: first, number: second.number)
            #expect(try await scene.phone.answer(first.id, message: message).json["reason"] == "wrong_number")
            #expect(try await scene.status(of: second).state == "pending")
        }
    }

    @Test("Leading zeros of a number count")
    func leadingZeros() async throws {
        try await DeviceScene.with { scene in
            var asked = try await scene.ask()
            // One in ten begins with a zero.
            for _ in 0..<400 where !asked.number.digits.hasPrefix("0") { asked = try await scene.ask() }
            try #require(asked.number.digits.hasPrefix("0"))
            let question = try await scene.phone.open(asked.id).question
            let text = scene.phone.receipt(of: question, .approved(.confirm, number: asked.number)).text
            let digits = asked.number.digits
            for other in [String(digits.dropFirst()), " " + digits.dropFirst(), "0" + digits] {
                let altered = text.replacing("number: \(digits)", with: "number: \(other)")
                let reply = try await scene.phone.answer(asked.id, message: try await scene.phone.seal(altered))
                #expect(reply.refusal == Refusal(422, "answer_invalid"), "\(reply)")
            }
            try await scene.expectUntouched(asked)
        }
    }

    @Test("Ten refused answers a minute are all a device has")
    func rateLimit() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let asked = try await scene.ask()
            _ = try await scene.phone.open(asked.id)
            for attempt: UInt8 in 1...10 {
                let reply = try await scene.phone.answer(asked.id, message: [attempt])
                #expect(reply.refusal == Refusal(422, "answer_invalid"), "attempt \(attempt)")
            }
            let limited = try await scene.phone.answer(asked.id, message: [11])
            #expect(limited.refusal == Refusal(429, "rate_limited"))
            let seconds = try #require(limited.json["retry_after"]?.integer)
            #expect((1...60).contains(seconds))
            #expect(limited.headers["retry-after"] == "\(seconds)")
            // Another device has attempts of its own, and attempts over the limit are not written down.
            #expect(try await second.answer(asked.id, message: [1]).refusal == Refusal(422, "answer_invalid"))
            #expect(try await scene.events("answer.refused").count == 11)
            // In the next minute there are attempts again; a right answer was never limited.
            scene.server.clock.advance(seconds: 61)
            #expect(
                try await scene.phone.answer(asked.id, message: [12]).refusal == Refusal(422, "answer_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test("A body that is not an answer is refused by name")
    func bodies() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let path = "\(asked.path)/answer"
            let good = Base64.encode(try await scene.approval(of: asked))
            let bodies: [([UInt8], Refusal, pointer: String?)] = [
                (Array("{\"message\":\"\(good)\",\"number\":\"1\"}".utf8), Refusal(422, "unknown_member"), "/number"),
                (Array("{}".utf8), Refusal(422, "missing_member"), "/message"),
                (Array("{\"message\":null}".utf8), Refusal(422, "missing_member"), "/message"),
                (Array("{\"message\":7}".utf8), Refusal(422, "invalid_member"), "/message"),
                (Array("{\"message\":\"@@\"}".utf8), Refusal(422, "invalid_member"), "/message"),
                (Array("[\"\(good)\"]".utf8), Refusal(422, "invalid_member"), ""),
                (Array("{\"message\":\"\(good)\"".utf8), Refusal(400, "malformed_json"), nil),
                (Array("{\"message\":\"\(good)\"}}".utf8), Refusal(400, "malformed_json"), nil),
                (Array("{\"message\":\"x\",\"message\":\"\(good)\"}".utf8), Refusal(400, "malformed_json"), nil),
                (Array("{\"message\":\"".utf8) + [0xFF] + Array("\"}".utf8), Refusal(400, "invalid_utf8"), nil),
                ([0xEF, 0xBB, 0xBF] + Array("{}".utf8), Refusal(400, "malformed_json"), nil),
                ([UInt8](repeating: 0x20, count: 256 * 1024 + 1), Refusal(413, "body_too_large"), nil),
            ]
            for (body, refusal, pointer) in bodies {
                let headers = try await scene.phone.signature(.POST, path, body: body)
                let reply = try await scene.server.send(.POST, path, headers: headers, body: body)
                #expect(reply.refusal == refusal, "\(reply)")
                #expect(reply.json["pointer"]?.string == pointer)
            }
            try await scene.expectUntouched(asked)
        }
    }

    @Test("RFC 9110 §15.5.6: other methods are refused, and the right ones named")
    func otherMethods() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let answer = try await scene.phone.send(.PUT, "\(asked.path)/answer", ["message": ""])
            #expect(answer.refusal == Refusal(405, "method_not_allowed"))
            #expect(answer.headers["allow"] == "POST")
            let own = try await scene.phone.send(.POST, "/v1/enrollments/self", [:])
            #expect(own.refusal == Refusal(405, "method_not_allowed"))
            try await scene.expectUntouched(asked)
        }
    }
}
