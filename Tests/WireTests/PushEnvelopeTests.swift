import CountersignWire
import Crypto
import Encodings
import JOSE
import Testing

@Suite("The payload of a push")
struct PushEnvelopeTests {
    private static let now = Timestamp(seconds: 1_795_169_710)
    private static let skew: Int64 = 60

    private let sample: Sample
    private let key = P256.Signing.PrivateKey()
    private let keys: JWKSet
    private let keyID: String
    private let envelope: PushEnvelope

    init() throws {
        sample = try Sample()
        let jwk = JWK(key.publicKey)
        (keys, keyID) = (JWKSet([JWK(P256.Signing.PrivateKey().publicKey), jwk]), jwk.thumbprint)
        envelope = PushEnvelope(
            issuer: sample.issuer, enrollment: sample.enrollment, challenge: sample.challenge,
            challengeType: sample.payment, issuedAt: Sample.time, expiresAt: Sample.time.adding(seconds: 300),
            alert: PushAlert(title: "Acme Bank", body: "Pay EUR 1,250.00?"))
    }

    private func payload() async throws -> JSONValue {
        try await envelope.signed(by: key, keyID: keyID, category: .review, badge: 2).payload
    }

    private func verify(_ payload: JSONValue, now: Timestamp = now, skew: Int64 = skew) throws(PushRefusal)
        -> PushEnvelope
    {
        try PushEnvelope(
            verifying: payload, issuer: sample.issuer, enrollment: sample.enrollment, keys: keys, now: now, skew: skew)
    }

    /// The payload with a signed part whose claims a test chose.
    private func payload(claims: JSONValue, type: String = PushEnvelope.type) async throws -> JSONValue {
        let jws = try await JWS.sign(claims.encoded, type: type, by: key, keyID: keyID)
        return try await payload().setting(["countersign", "jws"], .string(jws))
    }

    private func claims() async throws -> JSONValue {
        let jws = try #require(try await payload()["countersign"]?["jws"]?.string)
        return try JSONValue(
            parsing: try JWS.verify(jws, algorithms: [.es256], type: .exactly(PushEnvelope.type), keys: keys).payload)
    }

    @Test(
        "APNs provider API, Pushing background updates: a withdrawal wakes the app, and neither shows nor counts anything"
    )
    func withdrawal() async throws {
        let payload = PushWithdrawal.payload(of: sample.challenge, for: sample.enrollment)
        let expected: JSONValue = [
            "aps": ["content-available": 1],
            "countersign": [
                "v": 1, "id": .string("\(sample.challenge)"), "enrollment": .string("\(sample.enrollment)"),
                "ended": true,
            ],
        ]
        #expect(payload == expected)
        #expect(PushWithdrawal.challenge(in: payload) == sample.challenge)
        #expect(PushEnvelope.enrollment(named: payload) == sample.enrollment)
        // It announces nothing, and an announcement withdraws nothing.
        #expect(throws: PushRefusal.malformed) { _ = try verify(payload) }
        #expect(PushWithdrawal.challenge(in: try await self.payload()) == nil)
        for (path, value) in [
            (["countersign", "v"], 2), (["countersign", "ended"], false), (["countersign", "ended"], "true"),
            (["countersign", "id"], "chl_1"),
        ] as [([String], JSONValue)] {
            #expect(PushWithdrawal.challenge(in: payload.setting(path, value)) == nil)
        }
    }

    @Test("A payload has the form that APNs and the device read")
    func form() async throws {
        let payload = try await payload()
        let jws = try #require(payload["countersign"]?["jws"])
        let expected: JSONValue = [
            "aps": [
                "alert": ["title": "Acme Bank", "body": "Pay EUR 1,250.00?"], "category": "COUNTERSIGN_REVIEW",
                "badge": 2, "mutable-content": 1,
            ],
            "countersign": [
                "v": 1, "id": .string("\(sample.challenge)"), "enrollment": .string("\(sample.enrollment)"), "jws": jws,
            ],
        ]
        #expect(payload == expected)
        #expect(PushEnvelope.enrollment(named: payload) == sample.enrollment)
        #expect(try await claims().object?.members.map(\.name) == ["iss", "aud", "jti", "iat", "exp", "type", "alert"])
    }

    @Test("What is sealed verifies as the same envelope, its times cut to the second")
    func roundTrip() async throws {
        let read = try verify(try JSONValue(parsing: try await payload().encoded))
        #expect(read == envelope)
        #expect(read.issuedAt == Timestamp(seconds: 1_795_169_702))
    }

    @Test(
        "APNs provider API: the longest texts that are allowed leave the payload within its limit",
        arguments: ["a", "\u{E9}", "大"])
    func size(unit: String) async throws {
        let alert = PushAlert(
            title: String(repeating: unit, count: 64),
            body: String(repeating: unit, count: PushAlert.maximumMessageLength))
        let type = try #require(TypeName(String(repeating: "t", count: 64)))
        let envelope = PushEnvelope(
            issuer: sample.issuer, enrollment: sample.enrollment, challenge: sample.challenge, challengeType: type,
            issuedAt: Sample.time, expiresAt: Sample.time.adding(seconds: 300), alert: alert)
        let payload = try await envelope.signed(by: key, keyID: keyID, category: .review, badge: 999).payload
        // Its documentation: 4 KB (4096 bytes) for anything but a call.
        #expect(PushEnvelope.maximumPayloadSize == 4096)
        #expect(payload.encoded.count <= PushEnvelope.maximumPayloadSize)
        #expect(try verify(payload).alert == alert)
    }

    @Test(
        "A payload without its parts is malformed",
        arguments: [
            (["countersign"], nil), (["countersign"], []), (["countersign", "v"], nil), (["countersign", "v"], 2),
            (["countersign", "v"], "1"), (["countersign", "jws"], nil), (["countersign", "jws"], 1),
            (["aps"], nil), (["aps", "alert"], nil), (["aps", "alert"], "Pay?"), (["aps", "alert", "title"], nil),
            (["aps", "alert", "body"], nil), (["aps", "alert", "body"], .null), (["aps", "alert", "title"], 1),
        ] as [([String], JSONValue?)])
    func malformed(path: [String], value: JSONValue?) async throws {
        let payload = try await payload().setting(path, value)
        #expect(throws: PushRefusal.malformed) { try verify(payload) }
    }

    @Test("What is no object is malformed, and names no enrollment", arguments: [.null, [], "x", 1] as [JSONValue])
    func noObject(payload: JSONValue) {
        #expect(throws: PushRefusal.malformed) { try verify(payload) }
        #expect(PushEnvelope.enrollment(named: payload) == nil)
        #expect(PushEnvelope.enrollment(named: ["countersign": ["enrollment": payload]]) == nil)
    }

    @Test("RFC 8725 §3.11: a signed part of another type is refused", arguments: ["JWT", "countersign-token+jwt", ""])
    func otherType(type: String) async throws {
        let payload = try await payload(claims: try await claims(), type: type)
        #expect(throws: PushRefusal.signature(.unexpectedType)) { try verify(payload) }
    }

    @Test("A key that is not published is refused by that name, so that the keys can be fetched anew")
    func unknownKey() async throws {
        let payload = try await envelope.signed(by: key, keyID: "new", category: .review, badge: 0).payload
        #expect(throws: PushRefusal.signature(.unknownKeyID)) { try verify(payload) }
        let forged = try await envelope.signed(
            by: P256.Signing.PrivateKey(), keyID: keyID, category: .review, badge: 0
        ).payload
        #expect(throws: PushRefusal.signature(.badSignature)) { try verify(forged) }
        let noJWS = try await self.payload().setting(["countersign", "jws"], "a.b")
        #expect(throws: PushRefusal.signature(.malformed)) { try verify(noJWS) }
    }

    @Test(
        "A claim that is missing or of a wrong kind makes it malformed",
        arguments: [
            ("jti", [nil, 1, "", "enr_01m7w77m7b0c1g60r30c1g60r3"]), ("type", [nil, 1, "", "Payment"]),
            ("iat", [nil, "1795169702", .double(1.5), true]), ("exp", [nil, "1795169702", .double(1.5)]),
            ("alert", [nil, 1, "=", "A"]),
        ] as [(String, [JSONValue?])])
    func malformedClaims(name: String, values: [JSONValue?]) async throws {
        for value in values {
            let payload = try await payload(claims: try await claims().setting([name], value))
            #expect(throws: PushRefusal.malformed) { try verify(payload) }
        }
        for claims in [.null, [], "x"] as [JSONValue] {
            let payload = try await payload(claims: claims)
            #expect(throws: PushRefusal.malformed) { try verify(payload) }
        }
    }

    @Test("A moment beyond what can be counted is refused, not computed with", arguments: ["iat", "exp"])
    func absurdTimes(name: String) async throws {
        for value in [Int64.min, Int64.min / 1000 - 1, Int64.max / 1000 + 1, Int64.max] {
            let payload = try await payload(claims: try await claims().setting([name], .integer(value)))
            #expect(throws: PushRefusal.malformed, "\(value)") { try verify(payload) }
        }
    }

    @Test(
        "Another issuer's, or another enrollment's, is not for us",
        arguments: [
            ("iss", nil), ("iss", "https://login.example.org"), ("iss", "https://login.example.com/"), ("aud", nil),
            ("aud", "enr_01m7w77m7b0c1g60r30c1g60r3"), ("aud", []), ("iss", ["https://login.example.com"]),
        ] as [(String, JSONValue?)])
    func notForUs(name: String, value: JSONValue?) async throws {
        let payload = try await payload(claims: try await claims().setting([name], value))
        #expect(throws: PushRefusal.notForUs) { try verify(payload) }
    }

    @Test("An envelope is good from its making to its end, by the allowed skew")
    func times() async throws {
        let payload = try await payload()
        let (made, ends) = (envelope.issuedAt, envelope.expiresAt)
        #expect(try verify(payload, now: made.adding(seconds: -60)) == envelope)
        #expect(throws: PushRefusal.outOfTime) { try verify(payload, now: made.adding(seconds: -61)) }
        #expect(try verify(payload, now: ends.adding(seconds: 59)) == envelope)
        #expect(throws: PushRefusal.outOfTime) { try verify(payload, now: ends.adding(seconds: 60)) }
        #expect(throws: PushRefusal.outOfTime) { try verify(payload, now: ends, skew: 0) }
        #expect(throws: PushRefusal.outOfTime) { try verify(payload, now: made.adding(seconds: -1), skew: 0) }
        #expect(try verify(payload, now: made, skew: 0) == envelope)
    }

    @Test("The alert that is shown is the one that was signed, and no two share a digest")
    func alteredAlert() async throws {
        let payload = try await payload()
        for (title, body) in [
            ("Acme Bank", "Pay EUR 9,250.00?"), ("Acme", "Pay EUR 1,250.00?"), ("Acme Bank ", "Pay EUR 1,250.00?"),
            ("Acme BankPay", " EUR 1,250.00?"), ("", "Acme BankPay EUR 1,250.00?"), ("Pay EUR 1,250.00?", "Acme Bank"),
            ("Acme Bank,17:Pay EUR 1,250.00?", ""),
        ] {
            let altered = payload.setting(["aps", "alert"], ["title": .string(title), "body": .string(body)])
            #expect(throws: PushRefusal.alteredAlert) { try verify(altered) }
        }
        let short = try await self.payload(claims: try await claims().setting(["alert"], ""))
        #expect(throws: PushRefusal.alteredAlert) { try verify(short) }
    }

    @Test("What is not signed does not decide: the challenge is the signed one's")
    func unsigned() async throws {
        let other = ChallengeID(at: Sample.time, random: [UInt8](repeating: 9, count: 10))
        let payload = try await payload().setting(["countersign", "id"], .string("\(other)"))
            .setting(["aps", "category"], "COUNTERSIGN_CONFIRM").setting(["aps", "badge"], 99)
        #expect(try verify(payload).challenge == sample.challenge)
    }
}
