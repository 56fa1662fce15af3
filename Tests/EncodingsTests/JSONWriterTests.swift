import Encodings
import Testing

@Suite("RFC 8259: JSON as we write it")
struct JSONWriterTests {
    private func compact(_ value: JSONValue) -> String { String(decoding: value.encoded, as: UTF8.self) }

    @Test(
        "Values are written in one way",
        arguments: [
            (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
            (.double(0.5), "0.5"), (.double(1), "1.0"), ("", "\"\""), ("a/b", "\"a/b\""), ([], "[]"),
            (.members([:]), "{}"), ([1, [2]], "[1,[2]]"),
            (.members(["b": 1, "a": [true]]), #"{"b":1,"a":[true]}"#),
            (.members(["gone": nil, "here": .null]), #"{"here":null}"#),
        ] as [(JSONValue, String)])
    func forms(value: JSONValue, text: String) {
        #expect(compact(value) == text)
    }

    @Test("RFC 8259 §7: quotes, backslashes and every control character are escaped, nothing else is")
    func escapes() {
        #expect(compact("\"\\\n") == #""\"\\\n""#)
        for code in (UInt8(0)..<0x20).map(UInt32.init) + [0x7F] where code != 0x0A {
            guard let scalar = Unicode.Scalar(code) else { continue }
            #expect(compact(.string(String(scalar))) == "\"\\u00\(Hex.encode([UInt8(code)]))\"")
        }
        #expect(compact("é€😀\u{2028}") == "\"é€😀\u{2028}\"")
        #expect(compact(["a\"\n": 1]) == #"{"a\"\n":1}"#)
    }

    @Test("The pretty form indents by two blanks, keeps empty containers short and ends without a newline")
    func pretty() {
        let value = JSONValue.members([
            "name": "x", "list": [1, .members(["a": [], "b": .members([:])])], "last": .null,
        ])
        #expect(
            value.pretty == """
                {
                  "name": "x",
                  "list": [
                    1,
                    {
                      "a": [],
                      "b": {}
                    }
                  ],
                  "last": null
                }
                """)
        #expect(JSONValue.string("x").pretty == "\"x\"")
    }

    @Test("Setting a member again keeps its place, setting nil removes it")
    func objects() {
        var object: JSONObject = ["a": 1, "b": 2, "c": 3]
        object["b"] = 5
        object["a"] = nil
        object["d"] = nil
        object["e\u{301}"] = 6
        object["\u{E9}"] = 7
        #expect(compact(.object(object)) == "{\"b\":5,\"c\":3,\"e\u{301}\":6,\"\u{E9}\":7}")
        #expect(object["e\u{301}"] == 6)
        #expect(object["\u{E9}"] == 7)
    }

    @Test("Parts are found by name and place, and only in values that have them")
    func access() {
        let value: JSONValue = ["list": ["a", "b"], "n": 1, "flag": true]
        #expect(value["list"]?[1] == "b")
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["list"]?["x"] == nil)
        #expect(value[0] == nil)
        #expect(value["n"]?.bool == nil)
        #expect(value["flag"]?.integer == nil)
        #expect(value["n"]?.string == nil)
        #expect(JSONValue.double(1).integer == nil)
        #expect(JSONValue.integer(1) != .double(1))
        #expect(JSONValue.integer(1) != .bool(true))
        #expect(JSONValue.null != "null")
    }
}
