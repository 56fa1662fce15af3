import CountersignWire
import Encodings
import Testing

@Suite("NIST SP 800-63B-4 §3.2.10: the rules for PINs")
struct PINPolicyTests {
    @Test("The standard rules, as JSON and back")
    func standard() throws {
        let json: JSONValue = [
            "min_length": 5, "max_length": 32, "max_repeats": 3, "sequences": false, "blocked": [], "attempts": 5,
            "at_limit": "lock", "cost": 16,
        ]
        #expect(PINPolicy.standard.json == json)
        #expect(try PINPolicy(json, at: "") == .standard)
        #expect(try PINPolicy([:], at: "") == .standard)
    }

    @Test("Every member keeps what it says")
    func roundTrip() throws {
        let json: JSONValue = [
            "min_length": 4, "max_length": 4, "max_repeats": 32, "sequences": true, "blocked": ["1234", "0000"],
            "attempts": 10, "at_limit": "remove", "cost": 18,
        ]
        #expect(try PINPolicy(json, at: "").json == json)
    }

    @Test(
        "RFC 7914 §2: no policy lets PINs be shorter, guessed more often or stretched less",
        arguments: [
            ("/min_length", ["min_length": 3]), ("/min_length", ["min_length": 33]),
            ("/max_length", ["max_length": 33]),
            ("/max_length", ["min_length": 6, "max_length": 5]), ("/max_repeats", ["max_repeats": 0]),
            ("/sequences", ["sequences": 1]), ("/blocked", ["blocked": ["123"]]), ("/blocked", ["blocked": [1234]]),
            ("/blocked", ["blocked": .array([JSONValue](repeating: "1234", count: 1001))]),
            ("/attempts", ["attempts": 0]), ("/attempts", ["attempts": 11]), ("/at_limit", ["at_limit": "nothing"]),
            ("/cost", ["cost": 14]), ("/cost", ["cost": 19]),
        ] as [(String, JSONValue)])
    func refused(_ pointer: String, _ json: JSONValue) {
        let error = #expect(throws: JSONShapeError.self) { try PINPolicy(json, at: "") }
        guard case .invalid(pointer, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("An operator's typo is refused; a device ignores what a newer server says")
    func unknown() throws {
        #expect(throws: JSONShapeError.unknownMember(pointer: "/pin_policy/atempts")) {
            try PINPolicy(["atempts": 3], at: "/pin_policy")
        }
        #expect(try PINPolicy(["alphabet": "digits"], at: "", ignoringUnknown: true) == .standard)
    }

    @Test(
        "What may be set",
        arguments: [
            ("83517", nil), ("8351", .length), (String(repeating: "12", count: 17), .length), ("80808", nil),
            ("808088", .repeats), ("12345", .sequence), ("54321", .sequence), ("90123", .sequence),
            ("24680", .sequence),
            ("10987", .sequence), ("13579", .sequence), ("36925", nil), ("12346", nil), ("471932", .blocked),
        ] as [(String, PINViolation?)])
    func check(_ digits: String, _ violation: PINViolation?) throws {
        let policy = try PINPolicy(["blocked": ["471932"]], at: "")
        do throws(PINViolation) {
            try policy.check(digits)
            #expect(violation == nil)
        } catch {
            #expect(error == violation)
        }
    }

    @Test("Where sequences are allowed they may be set, and one digit alone is still repeated")
    func allowed() throws {
        let policy = try PINPolicy(["sequences": true], at: "")
        try policy.check("12345")
        #expect(throws: PINViolation.repeats) { try policy.check("11111") }
    }
}
