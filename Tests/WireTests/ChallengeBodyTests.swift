import CountersignWire
import Encodings
import Testing

@Suite("A challenge, opened")
struct ChallengeBodyTests {
    private let sample: Sample
    private let full: JSONValue

    init() throws {
        sample = try Sample()
        full = try Self.body(sample).json
    }

    private static func body(_ sample: Sample) throws -> ChallengeBody {
        ChallengeBody(
            question: try sample.fullQuestion(), user: sample.user, enrollment: sample.enrollment, methods: [.confirm],
            numberEntry: 6,
            expiresAt: Timestamp(milliseconds: 1_795_170_002_456), locale: "de-CH")
    }

    private func changed(_ name: String, _ value: JSONValue?) -> JSONValue {
        var object = full.object ?? JSONObject()
        object[name] = value
        return .object(object)
    }

    @Test("The body as JSON")
    func json() throws {
        let expected: JSONValue = [
            "v": 1, "kind": "challenge", "challenge": "chl_01m7w77m7b040g2081040g2081",
            "nonce": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "issuer": "https://login.example.com",
            "client": ["id": "cli_01m7w77m7b081040g2081040g2", "name": "Acme Bank"],
            "user": "usr_01m7w77m7b0c1g60r30c1g60r3", "enrollment": .string("\(sample.enrollment)"),
            "type": "payment", "methods": ["confirm"], "message": "Pay EUR 1,250.00 to ACME GmbH?",
            "details": [
                ["label": "Amount", "value": "EUR 1,250.00"],
                ["label": "Payee", "value": "ACME GmbH, DE89 3704 0044 0532 0130 00"],
                ["label": "Payee", "value": "a = b"],
            ],
            "signing_data": "{\"iban\":\"DE89370400440532013000\"}\n",
            "context": "Firefox on Windows, 203.0.113.7, Berlin", "number_entry": 6,
            "asked_at": "2026-11-20T10:15:02Z", "expires_at": "2026-11-20T10:20:02.456Z", "locale": "de-CH",
        ]
        #expect(full == expected)
    }

    @Test("A body comes back, with everything and with the least")
    func roundTrip() throws {
        #expect(try ChallengeBody(try JSONValue(parsing: full.encoded)) == Self.body(sample))
        let least = ChallengeBody(
            question: try sample.question(), user: sample.user, enrollment: sample.enrollment, methods: [],
            numberEntry: nil,
            expiresAt: Sample.time, locale: nil)
        #expect(try ChallengeBody(try JSONValue(parsing: least.json.encoded)) == least)
        for name in ["signing_data", "context", "number_entry", "locale"] { #expect(least.json[name] == nil) }
    }

    @Test("What the receipt will say is the same on both sides")
    func sameReceipt() throws {
        let read = try ChallengeBody(try JSONValue(parsing: full.encoded))
        let (here, there) = (sample.receipt(of: try sample.fullQuestion()), sample.receipt(of: read.question))
        #expect(here.text.hasSameBytes(as: there.text))
    }

    @Test("Unknown members are ignored, wherever they stand")
    func unknownMembers() throws {
        let body = try Self.body(sample)
        #expect(try ChallengeBody(changed("attempts_leave", 3)) == body)
        #expect(try ChallengeBody(changed("approved", true)) == body)
        let client: JSONValue = [
            "id": .string("\(sample.client)"), "name": "Acme Bank", "logo": "sha256:00", "trusted": true,
        ]
        #expect(try ChallengeBody(changed("client", client)) == body)
        var details = full["details"]?.array ?? []
        details[0] = ["label": "Amount", "value": "EUR 1,250.00", "emphasis": true]
        #expect(try ChallengeBody(changed("details", .array(details))) == body)
    }

    @Test("Methods that this version does not know are left out")
    func unknownMethods() throws {
        #expect(try ChallengeBody(changed("methods", ["fingerprint", "confirm", "custom:"])).methods == [.confirm])
        let own: [AnswerMethod] = [.custom(try #require(AuthenticatorName("x"))), .confirm]
        #expect(try ChallengeBody(changed("methods", ["custom:x", "confirm"])).methods == own)
        #expect(try ChallengeBody(changed("methods", ["fingerprint"])).methods.isEmpty)
    }

    @Test(
        "Every member that must be there is missed by its name",
        arguments: [
            "v", "kind", "challenge", "nonce", "issuer", "client", "user", "enrollment", "type", "message", "asked_at",
            "expires_at",
        ])
    func missing(name: String) {
        for value in [nil, .null] as [JSONValue?] {
            #expect(throws: JSONShapeError.missing(pointer: "/\(name)")) { try ChallengeBody(changed(name, value)) }
        }
    }

    @Test(
        "Every member that has a wrong kind or value is refused by its name",
        arguments: [
            ("v", [2, 0, "1", true, .double(1.5)]), ("kind", ["Challenge", "change", "", 1]),
            ("challenge", ["", 1, "chl_1", "usr_01m7w77m7b0c1g60r30c1g60r3"]),
            ("nonce", ["", 1, "00", "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"]),
            ("issuer", ["login.example.com", "https://login.example.com/", 1, []]),
            ("user", ["", "alice", 1, "enr_01m7w77m7b0c1g60r30c1g60r3"]),
            ("enrollment", ["", "usr_01m7w77m7b0c1g60r30c1g60r3", .bool(false)]),
            ("type", ["", "Payment", 1]), ("message", ["", " ", "a\u{202E}b", "a\r\nb", "a\n", 1, []]),
            ("context", ["", "a\nb", "a ", 1]), ("signing_data", [1, [], true, .members([:])]),
            ("number_entry", [0, -1, 17, "6", true, .double(6.5)]), ("locale", [1, []]),
            ("asked_at", ["", 1_795_169_702, "2026-11-20", "2026-11-20T10:15:02+00:00"]),
            ("expires_at", ["", 1_795_169_702, "2026-02-30T10:15:02Z"]),
            ("details", ["", 1, .members([:]), true]), ("methods", ["confirm", 1, .members([:])]),
        ] as [(String, [JSONValue])])
    func invalid(name: String, values: [JSONValue]) throws {
        for value in values {
            let error = try #require(throws: JSONShapeError.self) { try ChallengeBody(changed(name, value)) }
            guard case .invalid("/\(name)", _) = error else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test("What stands deeper is refused by its pointer")
    func nested() throws {
        for (name, value, pointer) in [
            ("client", ["id": "cli_1", "name": "Acme"], "/client/id"),
            ("client", ["id": .string("\(sample.client)"), "name": "Acme (Bank)"], "/client/name"),
            ("client", "Acme", "/client"), ("methods", ["confirm", 1], "/methods/1"),
            ("details", [["label": "a", "value": "b"], ["label": "a=", "value": "b"]], "/details/1"),
            ("details", [["label": "a", "value": "b\n"]], "/details/0"), ("details", ["a"], "/details/0"),
            ("details", [["label": 1, "value": "b"]], "/details/0/label"),
        ] as [(String, JSONValue, String)] {
            let error = try #require(throws: JSONShapeError.self) { try ChallengeBody(changed(name, value)) }
            guard case .invalid(pointer, _) = error else {
                Issue.record("\(error) instead of \(pointer)")
                continue
            }
        }
        #expect(throws: JSONShapeError.missing(pointer: "/client/name")) {
            try ChallengeBody(changed("client", ["id": .string("\(sample.client)")]))
        }
        #expect(throws: JSONShapeError.missing(pointer: "/details/0/value")) {
            try ChallengeBody(changed("details", [["label": "a"]]))
        }
    }

    @Test("What is no object is refused", arguments: [.null, [], "x", 1, true] as [JSONValue])
    func noObject(json: JSONValue) {
        #expect(throws: JSONShapeError.invalid(pointer: "", expected: "an object")) { try ChallengeBody(json) }
    }
}
