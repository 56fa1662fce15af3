import Encodings
import Testing

@Suite("RFC 6901: members and the pointers to them")
struct JSONPointerTests {
    @Test(
        "RFC 6901 §3, §5: `~` and `/` are escaped, everything else stands as it is",
        arguments: [
            ("foo", "/foo"), ("", "/"), ("a/b", "/a~1b"), ("c%d", "/c%d"), ("e^f", "/e^f"), ("i\\j", "/i\\j"),
            ("k\"l", "/k\"l"), (" ", "/ "), ("m~n", "/m~0n"), ("~1", "/~01"), ("/~", "/~1~0"), ("é", "/é"),
        ])
    func escapes(name: String, pointer: String) throws {
        let members = try JSONMembers(.members([:]))
        #expect(members.pointer(to: name) == pointer)
        var missing = members
        #expect(throws: JSONShapeError.missing(pointer: pointer)) { try missing.string(name) }
    }

    @Test("A pointer names the way through objects and arrays")
    func nested() throws {
        var outer = try JSONMembers(["list": [["x": 1], ["x": "no"]]])
        let elements = try outer.array("list")
        #expect(elements.map(\.pointer) == ["/list/0", "/list/1"])
        var first = try JSONMembers(elements[0].value, at: elements[0].pointer)
        #expect(try first.integer("x", in: 1...1) == 1)
        var second = try JSONMembers(elements[1].value, at: elements[1].pointer)
        #expect(throws: JSONShapeError.invalid(pointer: "/list/1/x", expected: "a whole number from 1 to 2")) {
            try second.integer("x", in: 1...2)
        }
        #expect(throws: JSONShapeError.invalid(pointer: "/list/7", expected: "an object")) {
            try JSONMembers("x", at: "/list/7")
        }
    }

    @Test(
        "A value of the wrong kind is named with what it must be",
        arguments: [.double(1), "1", true, [], .members([:])] as [JSONValue])
    func wrongKinds(value: JSONValue) throws {
        var members = try JSONMembers(["m": value])
        #expect(throws: JSONShapeError.invalid(pointer: "/m", expected: "a whole number from 0 to 9")) {
            try members.optionalInteger("m", in: 0...9)
        }
        if value.string == nil {
            #expect(throws: JSONShapeError.invalid(pointer: "/m", expected: "a string")) {
                try members.optionalString("m")
            }
        }
        if value.bool == nil {
            #expect(throws: JSONShapeError.invalid(pointer: "/m", expected: "true or false")) {
                try members.optionalBool("m")
            }
        }
        if value.array == nil {
            #expect(throws: JSONShapeError.invalid(pointer: "/m", expected: "an array")) { try members.strings("m") }
        }
    }

    @Test("Whole numbers are held against both bounds", arguments: [-1, 0, 5, 6] as [Int64])
    func bounds(number: Int64) throws {
        var members = try JSONMembers(["n": .integer(number)])
        if (0...5).contains(number) {
            #expect(try members.integer("n", in: 0...5) == number)
        } else {
            #expect(throws: JSONShapeError.invalid(pointer: "/n", expected: "a whole number from 0 to 5")) {
                try members.integer("n", in: 0...5)
            }
        }
    }

    @Test("Only what was asked for is known, compared by bytes, `null` members among it")
    func unknown() throws {
        var members = try JSONMembers(["e\u{301}": 1, "n": .null, "list": [1]])
        _ = members.value("\u{E9}")
        _ = members.value("n")
        _ = members.value("list")
        #expect(throws: JSONShapeError.unknownMember(pointer: "/e\u{301}")) { try members.refuseUnknown() }
        _ = members.value("e\u{301}")
        try members.refuseUnknown()
    }

    @Test("A member that is absent or null makes an empty list and nil, and never a required value")
    func absent() throws {
        for json in [.members([:]), ["m": .null]] as [JSONValue] {
            var members = try JSONMembers(json)
            #expect(try members.strings("m").isEmpty)
            #expect(try members.array("m").isEmpty)
            #expect(try members.optionalBool("m") == nil)
            #expect(try members.optionalInteger("m", in: 0...1) == nil)
            #expect(throws: JSONShapeError.missing(pointer: "/m")) { try members.required("m", "x") { $0 } }
            #expect(throws: JSONShapeError.missing(pointer: "/m")) { try members.string("m") }
        }
    }
}
