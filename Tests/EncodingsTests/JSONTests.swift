import Encodings
import Testing

@Suite("RFC 8259: JSON")
struct JSONTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(
        "Values are read for what they are",
        arguments: [
            ("null", .null), ("true", true), (" false ", false), ("0", 0), ("-12", -12),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .double(9223372036854775808)),
            ("1.5", .double(1.5)), ("1e3", .double(1000)), ("-0.25E-2", .double(-0.0025)), ("\"\"", ""),
            ("\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"", "a\"b\\c/d\u{8}\u{C}\n\r\t"), ("\"\\u00e9\\uD83D\\uDE00\"", "é😀"),
            ("[]", []), ("[1,[2],{}]", [1, [2], .members([:])]), ("{\"a\":{\"b\":[null]}}", ["a": ["b": [.null]]]),
        ] as [(String, JSONValue)])
    func values(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(
        "Texts that are not JSON are refused where they break",
        arguments: [
            ("", 0), ("nul", 0), ("01", -2), ("1.", 2), ("1e", 2), ("-", 1), ("+1", 0), ("[1,]", 3), ("{\"a\"}", 4),
            ("{\"a\":}", 5), ("{a:1}", 1), ("{\"a\":1,}", 7), ("\"abc", 4), ("\"\\x\"", 2), ("\"\\u12\"", 3),
            ("\"a\nb\"", 2), ("[1 2]", 3), ("\u{FEFF}1", 0), ("NaN", 0), ("'a'", 0),
        ])
    func malformed(text: String, offset: Int) {
        let expected: JSONSyntaxError = offset < 0 ? .trailingData(offset: 1) : .unexpected(offset: offset)
        #expect(throws: expected) { try parse(text) }
    }

    @Test("Something after the value is refused")
    func trailing() {
        #expect(throws: JSONSyntaxError.trailingData(offset: 3)) { try parse("{} {}") }
    }

    @Test(
        "RFC 7493 §2.1: half a surrogate pair is refused",
        arguments: ["\"\\uD83D\"", "\"\\uDE00\"", "\"\\uD83Dx\"", "\"\\uD83D\\u0041\""])
    func surrogates(text: String) {
        #expect(throws: JSONSyntaxError.unpairedSurrogate(offset: 1)) { try parse(text) }
    }

    @Test("RFC 7493 §2.3: a name twice is refused, however it is spelled")
    func duplicates() {
        #expect(throws: JSONSyntaxError.duplicateMember(name: "a")) { try parse("{\"a\":1,\"\\u0061\":2}") }
        #expect(throws: JSONSyntaxError.duplicateMember(name: "a")) { try parse("[{\"a\":1,\"b\":2,\"a\":1}]") }
    }

    @Test("RFC 3629: bytes that are not UTF-8 are refused, also inside a string")
    func invalidUTF8() {
        #expect(throws: JSONSyntaxError.invalidUTF8) { try JSONValue(parsing: [0x22, 0xC3, 0x22]) }
        #expect(throws: JSONSyntaxError.invalidUTF8) { try JSONValue(parsing: [0xFF]) }
    }

    @Test("Nesting has a limit, and the limit itself passes")
    func depth() throws {
        let limit = JSONParser.maximumDepth
        _ = try parse(String(repeating: "[", count: limit) + String(repeating: "]", count: limit))
        #expect(throws: JSONSyntaxError.tooDeep(offset: limit)) {
            try parse(String(repeating: "[", count: limit + 1) + String(repeating: "]", count: limit + 1))
        }
        #expect(throws: JSONSyntaxError.tooDeep(offset: limit * 5)) {
            try parse(String(repeating: "{\"a\":", count: 100_000))
        }
    }

    @Test("A number no double holds is refused")
    func range() {
        #expect(throws: JSONSyntaxError.numberOutOfRange(offset: 1)) { try parse("[1e999]") }
    }

    @Test("What is written is read as the same value, compact and pretty")
    func roundTrip() throws {
        let value: JSONValue = [
            "text": "quote \" backslash \\ newline \n tab \t nul \u{0} del \u{7F} é 😀",
            "list": [1, -2, .double(0.5), true],
            "empty": [:], "nothing": .null,
        ]
        #expect(try JSONValue(parsing: value.encoded) == value)
        #expect(try parse(value.pretty) == value)
        #expect(
            String(decoding: JSONValue(dictionaryLiteral: ("b", 1), ("a", [])).encoded, as: UTF8.self)
                == "{\"b\":1,\"a\":[]}")
        #expect(JSONValue(dictionaryLiteral: ("b", 1), ("a", [])).pretty == "{\n  \"b\": 1,\n  \"a\": []\n}")
    }

    @Test("Objects are equal whatever the order, and told apart by bytes")
    func equality() {
        let left: JSONValue = ["a": 1, "b": 2]
        let right: JSONValue = ["b": 2, "a": 1]
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(left != ["a": 1])
    }
}

@Suite("Members of JSON objects")
struct JSONMembersTests {
    @Test("Values are found, and absent ones told from wrong ones")
    func reading() throws {
        var members = try JSONMembers(["s": "x", "n": 7, "b": true, "list": ["a", "b"], "null": .null])
        #expect(try members.string("s") == "x")
        #expect(try members.integer("n", in: 0...7) == 7)
        #expect(try members.optionalBool("b") == true)
        #expect(try members.strings("list") == ["a", "b"])
        #expect(try members.optionalString("null") == nil)
        #expect(try members.optionalString("absent") == nil)
        try members.refuseUnknown()
        #expect(throws: JSONShapeError.missing(pointer: "/absent")) { try members.string("absent") }
        #expect(throws: JSONShapeError.missing(pointer: "/null")) { try members.integer("null", in: 0...1) }
        #expect(throws: JSONShapeError.invalid(pointer: "/n", expected: "a string")) { try members.string("n") }
        #expect(throws: JSONShapeError.invalid(pointer: "/n", expected: "a whole number from 0 to 6")) {
            try members.integer("n", in: 0...6)
        }
        #expect(throws: JSONShapeError.invalid(pointer: "/s", expected: "an array")) { try members.array("s") }
    }

    @Test("RFC 6901: pointers lead through nesting and escape their separators")
    func pointers() throws {
        var outer = try JSONMembers(["a/b~c": ["x": 1]])
        let inner = try outer.required("a/b~c", "an object") { $0 }
        var members = try JSONMembers(inner, at: outer.pointer(to: "a/b~c"))
        #expect(throws: JSONShapeError.invalid(pointer: "/a~1b~0c/x", expected: "a string")) { try members.string("x") }
        #expect(throws: JSONShapeError.invalid(pointer: "/list/1", expected: "a string")) {
            var list = try JSONMembers(["list": ["a", 2]])
            _ = try list.strings("list")
        }
    }

    @Test("A member nobody asked for is refused by name")
    func unknown() throws {
        var members = try JSONMembers(["known": 1, "typo": 2], at: "/x")
        _ = members.value("known")
        #expect(throws: JSONShapeError.unknownMember(pointer: "/x/typo")) { try members.refuseUnknown() }
    }

    @Test("Only an object has members", arguments: [JSONValue.null, [], "x", 1, true])
    func notAnObject(value: JSONValue) {
        #expect(throws: JSONShapeError.invalid(pointer: "", expected: "an object")) { try JSONMembers(value) }
    }
}
