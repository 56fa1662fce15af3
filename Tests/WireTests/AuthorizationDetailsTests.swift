import CountersignWire
import Encodings
import Testing

// Spec: RFC 9396 §2, §5.
@Suite("What a client wants a person to authorize in detail")
struct AuthorizationDetailsTests {
    private static func types() throws -> [AuthorizationDetailType] {
        func field(
            _ path: [String], _ label: String, isOptional: Bool = false
        ) throws -> AuthorizationDetailType.Field {
            .init(path: path, label: try DisplayLine(label), isOptional: isOptional)
        }
        return [
            AuthorizationDetailType(
                name: "payment", heading: try Detail(label: "Order", value: "Payment"),
                fields: [
                    try field(["to", "name"], "Payee"), try field(["amount"], "Amount"),
                    try field(["days"], "Days", isOptional: true), try field(["once"], "Once", isOptional: true),
                    try field(["to", "account"], "Account", isOptional: true),
                ]),
            AuthorizationDetailType(
                name: "urn:example:consent", heading: try Detail(label: "Order", value: "Look at accounts"),
                fields: [try field(["actions"], "May"), try field(["Key"], "Key", isOptional: true)]),
        ]
    }

    static let least = #"{"type":"payment","amount":"EUR 5.00","to":{"name":"ACME"}}"#

    static func list(_ element: String, _ count: Int) -> String {
        Array(repeating: element, count: count).joined(separator: ",")
    }

    static func look(_ actions: Int) -> String {
        #"{"type":"urn:example:consent","actions":[\#(list("1", actions))]}"#
    }

    @Test("Each member becomes a line, in the order of the settings; what was sent stays as it is")
    func lines() throws {
        let text = #"""
            [{"days":3,"amount":"EUR 5.00","once":true,"type":"payment","to":{"account":"DE89","name":"ACME GmbH"}},
            {"type":"urn:example:consent","actions":["read","list"]}]
            """#
        let details = try AuthorizationDetails(text, of: try Self.types())
        #expect(
            details.lines.map { "\($0.label.text) = \($0.value.text)" } == [
                "Order = Payment", "Payee = ACME GmbH", "Amount = EUR 5.00", "Days = 3", "Once = true",
                "Account = DE89", "Order = Look at accounts", "May = read", "May = list",
            ])
        #expect(try details.json == JSONValue(parsing: Array(text.utf8)))
        #expect(AuthorizationDetails(kept: details.kept) == details)
        let least = try AuthorizationDetails("[\(Self.least)]", of: try Self.types())
        #expect(least.lines.map(\.label.text) == ["Order", "Payee", "Amount"])
        for damaged in [["details": []], ["lines": []], ["details": [], "lines": [["a"]]]] as [JSONValue] {
            #expect(AuthorizationDetails(kept: damaged) == nil, "\(damaged)")
        }
    }

    @Test(
        "What nobody would see, or could not be sure of, is refused",
        arguments: [
            ("", .malformed), ("x", .malformed), (AuthorizationDetailsTests.least, .malformed), ("[]", .malformed),
            (#"["payment"]"#, .unknownType), (#"[{}]"#, .unknownType), (#"[{"type":1}]"#, .unknownType),
            (#"[{"type":"Payment","amount":"1","to":{"name":"A"}}]"#, .unknownType),
            (#"[{"type":"payment","type":"payment","amount":"1","to":{"name":"A"}}]"#, .malformed),
            (#"[{"type":"payment","to":{"name":"A"}}]"#, .memberMissing),
            (#"[{"type":"payment","amount":"1"}]"#, .memberMissing),
            (#"[{"type":"payment","amount":"1","to":"A"}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":"1","to":{}}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":"1","to":[{"name":"A"}]}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":"1","to":{"name":"A"},"locations":["https://a"]}]"#, .unknownMember),
            (#"[{"type":"payment","amount":"1","to":{"name":"A","bic":"B"}}]"#, .unknownMember),
            (#"[{"type":"payment","amount":"1","to":{"name":"A"},"to/account":"B"}]"#, .unknownMember),
            (#"[{"type":"urn:example:consent","actions":["read"],"\#u{212A}ey":"x"}]"#, .unknownMember),
            (#"[{"type":"payment","amount":1.5,"to":{"name":"A"}}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":null,"to":{"name":"A"}}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":{"a":1},"to":{"name":"A"}}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":[["1"]],"to":{"name":"A"}}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":"1","to":{"name":"A"},"days":[]}]"#, .valueNotShown),
            (#"[{"type":"payment","amount":"","to":{"name":"A"}}]"#, .textNotShown),
            (#"[{"type":"payment","amount":"1\n2","to":{"name":"A"}}]"#, .textNotShown),
            (#"[{"type":"payment","amount":"1","to":{"name":"A\u202EB"}}]"#, .textNotShown),
            ("[\(AuthorizationDetailsTests.list(AuthorizationDetailsTests.least, 11))]", .malformed),
            ("[\(AuthorizationDetailsTests.look(32))]", .tooManyLines),
            ("[\(AuthorizationDetailsTests.least)\(String(repeating: " ", count: 4096))]", .tooLong),
        ] as [(String, AuthorizationDetails.Refusal)])
    func refused(_ text: String, _ refusal: AuthorizationDetails.Refusal) throws {
        let types = try Self.types()
        #expect(throws: refusal) { try AuthorizationDetails(text, of: types) }
    }

    @Test("As many as a challenge has lines for are taken")
    func most() throws {
        let details = try AuthorizationDetails("[\(Self.look(31))]", of: try Self.types())
        #expect(details.lines.count == 32)
        #expect(try AuthorizationDetails("[\(Self.list(Self.least, 10))]", of: try Self.types()).lines.count == 30)
    }
}
