import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: a device answers")
struct OktaAnswerTests {
    private static func verification(_ challenge: String) throws -> JSONValue? {
        try OktaPhone.claims(challenge)["userVerification"]
    }

    @Test("The challenge is as the SDK parses it, signed by a key of RSA that it finds, and the answer decides")
    func approves() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let context: JSONValue = ["ip": "203.0.113.7", "user_agent": "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0"]
            let asked = try await scene.ask(phone, "tap", ["context": context])
            let challenge = try #require(try await phone.pending().first)
            let set = try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).success()
            let verified = try JWS.verify(
                challenge, algorithms: [.rs256], type: .exactly("okta-pushbind+jwt"), keys: try JWKSet(set))
            #expect(verified.header["kid"]?.string != nil)
            let claims = try JSONValue(parsing: verified.payload)
            let id = JSONValue.string(asked)
            #expect(claims["iss"] == .string("\(scene.server.issuer)") && claims["aud"] == .string(scene.client))
            #expect(claims["jti"] == id && claims["transactionId"] == id && claims["sub"] == nil)
            #expect(claims["authenticatorEnrollmentId"] == .string(phone.id) && claims["method"] == "push")
            #expect(claims["methodEnrollmentId"] == .string(phone.id) && claims["userId"] == .string(phone.user))
            #expect(claims["nonce"]?.string?.utf8.count == 64 && claims["appInstanceName"] == "ACME Shop")
            let (start, end) = (try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer))
            #expect(start <= scene.server.clock.now.seconds && start < end)
            let shown = try #require(claims["challengeContext"])
            #expect(shown["transactionType"] == "CIBA" && shown["transactionTime"]?.string != nil)
            #expect(shown["bindingMessage"] == "Pay EUR 1,250.00 to ACME GmbH?")
            #expect(shown["clientLocation"]?.string?.contains("203.0.113.7") == true, "\(shown)")
            let path = "\(OktaScene.path)/challenge/\(asked)/verify"
            #expect(claims["verificationUri"] == .string(scene.server.issuer.uri(path)))
            let answer = try await phone.answer(to: challenge)
            for _ in 0..<2 {
                let reply = try await phone.verify(answer, at: challenge)
                #expect(reply.status == 200 && reply.json["status"] == "SUCCESS", "\(reply)")
            }
            #expect(try await phone.pending() == [])
            let ended = try await scene.shop.call(.GET, "/v1/challenges/\(asked)").success()
            #expect(ended["state"] == "approved" && ended["method"] == "confirm", "\(ended)")
            #expect(try await scene.administrator.auditCount("challenge.approved") == 1)
            let receipt = try await scene.shop.call(.GET, "/v1/challenges/\(asked)/receipt")
            #expect(receipt.headers["content-type"] == "application/jwt")
            #expect(String(decoding: receipt.body, as: UTF8.self) == answer)
        }
    }

    @Test("A denial is 204; a percent sign in the message survives the SDK's decoding")
    func denies() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let asked = try await scene.ask(phone, "tap", ["message": "Give 5 % away?"])
            let challenge = try #require(try await phone.pending().first)
            let message = try OktaPhone.claims(challenge)["challengeContext"]?["bindingMessage"]?.string
            #expect(message == "Give 5 %25 away?" && message?.removingPercentEncoding == "Give 5 % away?")
            let reply = try await phone.verify(
                try await phone.answer(to: challenge, "DENIED_CONSENT_PROMPT"), at: challenge)
            #expect(reply.status == 204 && reply.body.isEmpty, "\(reply)")
            #expect(try await scene.scene.state(of: asked) == "denied")
        }
    }

    @Test("The order of a type's methods says whether the SDK asks for the biometric, and its key then answers")
    func biometric() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone("anna", verifies: true)
            for (type, word) in [("tap", "NONE"), ("both", "PREFERRED"), ("face", "REQUIRED")] {
                let asked = try await scene.ask(phone, type)
                let challenge = try #require(try await phone.pending().first)
                #expect(try Self.verification(challenge) == .string(word))
                let isVerified = type != "tap"
                let consent = isVerified ? "APPROVED_USER_VERIFICATION" : "APPROVED_CONSENT_PROMPT"
                let answer = try await phone.answer(to: challenge, consent, isVerified: isVerified)
                #expect(try await phone.verify(answer, at: challenge).status == 200)
                let ended = try await scene.shop.call(.GET, "/v1/challenges/\(asked)").success()
                #expect(ended["method"] == .string(isVerified ? "biometric" : "confirm"), "\(ended)")
            }
            // Without such a key the SDK is not asked for one, or signs that nobody has said anything.
            let plain = try await scene.enrolledPhone("bert")
            _ = try await scene.ask(plain, "both")
            let challenge = try #require(try await plain.pending().first)
            #expect(try Self.verification(challenge) == "NONE")
            #expect(try await plain.verify(try await plain.answer(to: challenge), at: challenge).status == 200)
        }
    }

    @Test("What nobody has signed, what was not asked, and what does not answer look alike, and decide nothing")
    func alike() async throws {
        try await OktaScene.with { scene in
            let (phone, other) = (try await scene.enrolledPhone("anna"), try await scene.enrolledPhone("bert"))
            let asked = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            let path = "\(OktaScene.path)/challenge"
            let good = try await phone.answer(to: challenge)
            let thief = PrivateJWK(P256.Signing.PrivateKey(), keyID: "thief")
            let nobody = "chl_01m7yfdxsqjqckvr59wm88r0ae"
            var replies = [
                try await phone.post("a.b.c", to: "\(path)/\(asked)/verify"),
                try await phone.post(good, to: "\(path)/\(nobody)/verify"),
                try await phone.post(good, to: "\(path)/nobody/verify"),
                try await phone.verify(try await phone.answer(to: challenge, signedBy: thief), at: challenge),
                try await phone.verify(
                    try await phone.answer(to: challenge) { $0["iss"] = .string(other.id) }, at: challenge),
                try await phone.verify(
                    try await phone.answer(to: challenge) { $0["iss"] = "enr_01m7yfdvpt5prmr79m8dcgymep" },
                    at: challenge),
                // The other one's own signature, about what was asked of the first.
                try await other.verify(try await other.answer(to: challenge), at: challenge),
                try await phone.verify(
                    try await phone.answer(to: challenge) { $0["nonce"] = .string(String(repeating: "0a", count: 32)) },
                    at: challenge),
            ]
            for consent in ["NONE", "CANCELLED_USER_VERIFICATION", "UV_PERMANENTLY_UNAVAILABLE"] {
                replies.append(try await phone.verify(try await phone.answer(to: challenge, consent), at: challenge))
            }
            for reply in replies {
                expectCode(reply, 400, "E0000001")
                #expect(reply.told == replies[0].told, "\(reply)")
            }
            for body in [
                ["method": "totp", "challengeResponse": .string(good)], ["method": "push"], ["challengeResponse": 1],
            ] as [JSONValue] {
                let reply = try await phone.call(.POST, "\(path)/\(asked)/verify", body, by: .some(nil))
                expectCode(reply, 400, "E0000001")
            }
            #expect(try await scene.scene.state(of: asked) == "pending")
            let fresh = try await phone.answer(to: challenge)
            #expect(try await phone.verify(fresh, at: challenge).status == 200)
        }
    }

    @Test("A device is asked nothing that must be read, and its answer to it is none")
    func neverAsked() async throws {
        try await OktaScene.with { scene in
            let user = scene.scene.user
            let phone = try await scene.enrolledPhone()
            let details: JSONValue = [["label": "Payee", "value": "ACME"]]
            for body in [
                ["user": .string(phone.user), "type": "payment", "message": "x"],
                ["user": .string(phone.user), "type": "tap", "message": "x", "number_entry": true],
                ["user": .string(phone.user), "type": "tap", "message": "x", "details": details],
            ] as [JSONValue] {
                let asked = try await scene.shop.call(.POST, "/v1/challenges", body)
                expectRefusal(asked, 409, "no_enrollment")
            }
            #expect(try await phone.pending() == [])
            // Of somebody else it answers nothing.
            let other = try await scene.shop.ask(user, ["type": "tap"])
            let id = try #require(other["id"]?.string)
            _ = try await scene.ask(phone)
            let own = try #require(try await phone.pending().first)
            let forged = try await phone.answer(to: own) { $0["tx"] = .string(id) }
            expectCode(
                try await phone.post(forged, to: "\(OktaScene.path)/challenge/\(id)/verify"), 400, "E0000001")
            #expect(try await scene.scene.state(of: id) == "pending")
        }
    }

    @Test("A removed device's answer decides nothing and says so, a suspended one's as well; ended is ended")
    func states() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let first = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            let admin = "/v1/admin/enrollments/\(phone.id)"
            #expect(try await scene.administrator.call(.POST, "\(admin)/suspend").status < 300)
            expectCode(try await phone.verify(try await phone.answer(to: challenge), at: challenge), 423, "E0000180")
            #expect(try await scene.administrator.call(.POST, "\(admin)/resume").status < 300)
            #expect(try await scene.scene.state(of: first) == "failed")
            expectCode(try await phone.verify(try await phone.answer(to: challenge), at: challenge), 404, "E0000007")
            let second = try await scene.ask(phone)
            let next = try #require(try await phone.pending().first)
            let answer = try await phone.answer(to: next)
            #expect(try await phone.call(.DELETE, phone.path).status == 204)
            expectCode(try await phone.verify(answer, at: next), 410, "E0000154")
            #expect(try await scene.scene.state(of: second) == "failed")
            #expect(try await scene.administrator.auditCount("challenge.approved") == 0)
        }
    }

    @Test("Switched off meanwhile, an answer is none; switched on again, the same answer decides")
    func switchedOff() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let asked = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            let answer = try await phone.answer(to: challenge)
            try await scene.set([])
            expectCode(try await phone.verify(answer, at: challenge), 400, "E0000001")
            expectCode(try await phone.call(.GET, "\(phone.path)/push/notifications"), 403, "E0000015")
            #expect(try await scene.scene.state(of: asked) == "pending")
            try await scene.set(["okta"])
            #expect(try await phone.verify(answer, at: challenge).status == 200)
            #expect(try await scene.scene.state(of: asked) == "approved")
        }
    }

    @Test(
        "Its client disabled or its user deleted meanwhile, an answer decides nothing, and says which",
        arguments: ["disabled", "deleted"])
    func gone(_ what: String) async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let asked = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            let answer = try await phone.answer(to: challenge)
            if what == "disabled" {
                let path = "/v1/admin/clients/\(scene.client)"
                #expect(try await scene.administrator.call(.POST, "\(path)/disable").status == 200)
                expectCode(try await phone.verify(answer, at: challenge), 404, "E0000007")
                expectCode(try await phone.call(.GET, OktaScene.path), 401, "E0000011")
                #expect(try await scene.administrator.call(.POST, "\(path)/enable").status == 200)
                #expect(try await scene.scene.state(of: asked) == "cancelled")
                // The device is as it was.
                _ = try await scene.ask(phone)
                let given = try await phone.maintain(try await phone.assertion()).success()
                let token = try #require(given["access_token"]?.string)
                let next = try #require(try await phone.pending(by: token).first)
                #expect(try await phone.verify(try await phone.answer(to: next), at: next).status == 200)
            } else {
                #expect(try await scene.shop.call(.DELETE, "/v1/users/\(phone.user)").status == 204)
                expectCode(try await phone.verify(answer, at: challenge), 410, "E0000154")
                expectCode(try await phone.call(.GET, OktaScene.path), 401, "E0000011")
                let refused = try await phone.maintain(try await phone.assertion())
                #expect(refused.status == 400 && refused.json["error"] == "invalid_grant", "\(refused)")
                #expect(try await scene.administrator.auditCount("challenge.approved") == 0)
            }
        }
    }

    @Test("Of a yes and a no at once, one counts, and both replies agree with it")
    func atOnce() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            for _ in 0..<5 {
                let asked = try await scene.ask(phone)
                let challenge = try #require(try await phone.pending().first)
                let yes = try await phone.answer(to: challenge)
                let no = try await phone.answer(to: challenge, "DENIED_CONSENT_PROMPT")
                async let first = phone.verify(yes, at: challenge)
                async let second = phone.verify(no, at: challenge)
                let statuses = [try await first.status, try await second.status]
                let state = try await scene.scene.state(of: asked)
                #expect(statuses == (state == "approved" ? [200, 404] : [404, 204]), "\(state)")
            }
        }
    }

    @Test("After many answers that nobody has signed, a network is told to wait; a good signature still decides")
    func limit() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let asked = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            for _ in 0..<100 {
                expectCode(
                    try await phone.post("a.b.c", to: "\(OktaScene.path)/challenge/\(asked)/verify"), 400, "E0000001")
            }
            let refused = try await phone.post("a.b.c", to: "\(OktaScene.path)/challenge/\(asked)/verify")
            expectCode(refused, 429, "E0000047")
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await phone.verify(try await phone.answer(to: challenge), at: challenge).status == 200)
        }
    }

    @Test("Signed answers that are none are limited for each device")
    func refusals() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            _ = try await scene.ask(phone)
            let challenge = try #require(try await phone.pending().first)
            for _ in 0..<10 {
                let reply = try await phone.verify(try await phone.answer(to: challenge, "NONE"), at: challenge)
                expectCode(reply, 400, "E0000001")
            }
            let reply = try await phone.verify(try await phone.answer(to: challenge, "NONE"), at: challenge)
            expectCode(reply, 429, "E0000047")
        }
    }
}
