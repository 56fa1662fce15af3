import Encodings
import TestSupport
import Testing

@Suite("RFC 8259: JSON, random values and damaged texts")
struct JSONRandomTests {
    @Test("Random values come back from their compact and their pretty form, and compact forms are stable")
    func roundTrip() throws {
        var values = RandomJSON(SeededGenerator.announced(by: "JSONRandomTests.roundTrip"))
        for _ in 0..<400 {
            let value = values.value(depth: 4)
            let encoded = value.encoded
            let again = try JSONValue(parsing: encoded)
            #expect(again == value)
            #expect(again.encoded == encoded)
            #expect(try JSONValue(parsing: Array(value.pretty.utf8)) == value)
        }
    }

    @Test("Values as deep as the limit come back, one level more is refused")
    func deep() throws {
        for outer in [true, false] {
            var value: JSONValue = "core"
            for level in 0..<JSONParser.maximumDepth {
                value = level.isMultiple(of: 2) == outer ? .array([value]) : ["x": value]
            }
            #expect(try JSONValue(parsing: value.encoded) == value)
            #expect(try JSONValue(parsing: Array(value.pretty.utf8)) == value)
            let error = #expect(throws: JSONSyntaxError.self) {
                try JSONValue(parsing: JSONValue.array([value]).encoded)
            }
            guard case .tooDeep? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("Every finite double comes back as the same number")
    func doubles() throws {
        var generator = SeededGenerator.announced(by: "JSONRandomTests.doubles")
        for _ in 0..<2000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            let value = try JSONValue(parsing: JSONValue.double(number).encoded)
            #expect(value == .double(number), "\(number)")
        }
        for number in [Int64.min, -1, 0, 1, Int64.max] {
            #expect(try JSONValue(parsing: JSONValue.integer(number).encoded) == .integer(number))
        }
    }

    @Test("A damaged text is refused, or says something that is read as the same again")
    func mutations() throws {
        var values = RandomJSON(SeededGenerator.announced(by: "JSONRandomTests.mutations"))
        let text = Array(
            #"{"a":[1,-2.5e3,{"b":"é😀😀\n"},true,false,null],"c/d~e":"","f":[[],{}]}"#.utf8)
        let seed = values.generator.seed
        for _ in 0..<4000 {
            let damaged = values.generator.mutated(text)
            guard let value = try? JSONValue(parsing: damaged) else { continue }
            #expect(try JSONValue(parsing: value.encoded) == value, "seed \(seed): \(Hex.encode(damaged))")
        }
    }

    @Test("Every cut through a text is refused")
    func truncated() {
        let text = Array(#"{"a":[1,-2.5e3,{"b":"é😀\n"},true,false,null],"c":""}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text[..<length]) }
        }
    }
}

/// Makes JSON values at random.
private struct RandomJSON {
    var generator: SeededGenerator

    init(_ generator: SeededGenerator) {
        self.generator = generator
    }

    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .integer(Int64.random(in: Int64.min...Int64.max, using: &generator))
        case 3: return .double(Double.random(in: -1e9...1e9, using: &generator))
        case 4, 5: return .string(text())
        case 6:
            var elements: [JSONValue] = []
            for _ in 0..<Int.random(in: 0...4, using: &generator) { elements.append(value(depth: depth - 1)) }
            return .array(elements)
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &generator) { object[text()] = value(depth: depth - 1) }
            return .object(object)
        }
    }

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let range: ClosedRange<UInt32> =
                [0...0x1F, 0x20...0x7F, 0x80...0x7FF, 0x800...0xFFFF, 0x10000...0x10FFFF].randomElement(
                    using: &generator) ?? 0...0x7F
            guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) else { continue }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
