import CountersignWire
import Encodings
import Testing

@Suite("Texts that may be shown and signed")
struct DisplayTextTests {
    private static let lines: [String] = [
        "a", "0", " a", "a b", "=", "()", "-", "- a", "-----BEGIN PGP SIGNATURE-----", "From here", "Überweisung",
        "\u{E9}", "Ωμέγα", "Привет", "大阪", "￥1,250.00", "שלום", "مرحبا", "🙂", "a\u{A0}b", "a\u{3000}b", "a\u{2800}b",
        "می\u{200C}خواهم", "क्\u{200D}ष", "\u{301}a", "\u{FFFD}",
        "q\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}q\u{301}", "ที่", "क्षि",
        "한글", "\u{1F1E9}\u{1F1EA}", "𝔘", "“quoted”", "a…",
    ]

    private static let refusedEverywhere: [(String, TextRefusal)] = [
        ("", .empty), (" ", .empty), ("   ", .empty), ("\u{A0}", .empty), ("\u{3000}", .empty), ("\u{2800}", .empty),
        ("\u{2003} ", .empty),
        ("a\tb", .controlCharacter), ("a\rb", .controlCharacter), ("a\r\nb", .controlCharacter),
        ("\u{0}", .controlCharacter), ("a\u{7}", .controlCharacter), ("a\u{1B}[31m", .controlCharacter),
        ("a\u{7F}", .controlCharacter), ("a\u{80}", .controlCharacter), ("a\u{85}b", .controlCharacter),
        ("a\u{9B}b", .controlCharacter), ("a\u{B}b", .controlCharacter), ("a\u{C}b", .controlCharacter),
        ("a\u{2028}b", .lineSeparator), ("a\u{2029}b", .lineSeparator), ("\u{2028}", .lineSeparator),
        ("a\u{61C}b", .bidirectionalControl), ("a\u{200E}b", .bidirectionalControl),
        ("a\u{200F}b", .bidirectionalControl), ("a\u{202A}b", .bidirectionalControl),
        ("a\u{202B}b", .bidirectionalControl), ("a\u{202C}b", .bidirectionalControl),
        ("a\u{202D}b", .bidirectionalControl), ("a\u{202E}b", .bidirectionalControl),
        ("a\u{2066}b", .bidirectionalControl), ("a\u{2067}b", .bidirectionalControl),
        ("a\u{2068}b", .bidirectionalControl), ("a\u{2069}b", .bidirectionalControl),
        ("a\u{AD}b", .invisibleCharacter), ("a\u{200B}b", .invisibleCharacter), ("a\u{2060}b", .invisibleCharacter),
        ("a\u{2061}b", .invisibleCharacter), ("a\u{206A}b", .invisibleCharacter), ("a\u{FEFF}b", .invisibleCharacter),
        ("\u{FEFF}a", .invisibleCharacter), ("a\u{180E}b", .invisibleCharacter), ("a\u{34F}b", .invisibleCharacter),
        ("a\u{115F}b", .invisibleCharacter), ("a\u{1160}b", .invisibleCharacter), ("a\u{3164}b", .invisibleCharacter),
        ("a\u{FFA0}b", .invisibleCharacter), ("a\u{FE0F}b", .invisibleCharacter), ("a\u{E0061}b", .invisibleCharacter),
        ("a\u{E0100}b", .invisibleCharacter), ("a\u{FFF9}b", .invisibleCharacter), ("a\u{FFF0}b", .invisibleCharacter),
        ("a\u{1D173}b", .invisibleCharacter), ("a\u{17B4}b", .invisibleCharacter),
        ("\u{200C}a", .invisibleCharacter), ("a\u{200C}", .invisibleCharacter), ("a\u{200C} b", .invisibleCharacter),
        ("a \u{200D}b", .invisibleCharacter), ("1\u{200D}2", .invisibleCharacter),
        ("a\u{200C}\u{200C}b", .invisibleCharacter), ("a\u{200C}\u{200D}b", .invisibleCharacter),
        ("\u{1F468}\u{200D}\u{1F469}", .invisibleCharacter), ("a-\u{200C}b", .invisibleCharacter),
        ("a\u{E000}b", .unassignedCharacter), ("\u{F8FF}", .unassignedCharacter), ("a\u{F0000}b", .unassignedCharacter),
        ("a\u{10FFFD}", .unassignedCharacter), ("a\u{378}b", .unassignedCharacter), ("\u{FFFF}", .unassignedCharacter),
        ("\u{323B0}", .unassignedCharacter),
        ("q\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", .tooManyMarks),
        ("a\u{20DD}\u{20DD}\u{20DD}\u{20DD}\u{20DD}\u{20DD}\u{20DD}b", .tooManyMarks),
        ("e\u{301}", .notNormalized), ("\u{212B}", .notNormalized), ("\u{2126}", .notNormalized),
        ("\u{1100}\u{1161}", .notNormalized), ("a\u{323}\u{307}\u{301}\u{323}", .notNormalized),
        ("a\u{301}\u{323}", .notNormalized), ("\u{F900}", .notNormalized), ("\u{37E}", .notNormalized),
        ("\u{1F71}", .notNormalized), ("\u{958}", .notNormalized),
        ("a ", .trailingBlank), ("a\u{A0}", .trailingBlank), ("a\u{3000}", .trailingBlank),
        ("a\u{2800}", .trailingBlank), ("a\u{2002} \u{1680}", .trailingBlank),
    ]

    @Test("A harmless line may be shown, and stays as it is", arguments: lines)
    func accepted(text: String) throws {
        #expect(try DisplayLine(text).text.hasSameBytes(as: text))
        #expect(try DisplayMessage(text).text.hasSameBytes(as: text))
        #expect(try DisplayMessage("first\n\n\(text)\nlast").text.hasSameBytes(as: "first\n\n\(text)\nlast"))
        #expect(try Detail(label: "x", value: text).value.text.hasSameBytes(as: text))
    }

    @Test(
        "What could deceive or not survive is refused by its name, in lines and messages", arguments: refusedEverywhere)
    func refused(text: String, refusal: TextRefusal) {
        #expect(throws: refusal) { try DisplayLine(text) }
        #expect(throws: refusal) { try DisplayMessage(text) }
        #expect(throws: refusal) { try ClientName(text) }
        #expect(throws: refusal) { try Detail(label: text, value: "x") }
        #expect(throws: refusal) { try Detail(label: "x", value: text) }
    }

    @Test("The same is refused in any line of a message", arguments: refusedEverywhere.filter { $0.1 != .empty })
    func refusedInLine(text: String, refusal: TextRefusal) {
        #expect(throws: refusal) { try DisplayMessage("first\n\(text)\nlast") }
    }

    @Test("Every code point that is a control, has no picture, or changes direction is refused")
    func everyScalar() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), scalar != "\n" else { continue }
            let properties = scalar.properties
            let isRefused =
                switch properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: true
                default: properties.isDefaultIgnorableCodePoint || properties.isBidiControl
                }
            guard isRefused else { continue }
            // Blanks around it: inside a word U+200C and U+200D may stand.
            if (try? DisplayMessage("a \(scalar) b")) != nil { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    @Test("LF ends a line of a message, and has no place in anything that is one line")
    func lineFeeds() throws {
        #expect(try DisplayMessage("a\nb\n\nc").text == "a\nb\n\nc")
        #expect(throws: TextRefusal.controlCharacter) { try DisplayLine("a\nb") }
        #expect(throws: TextRefusal.controlCharacter) { try ClientName("a\nb") }
        #expect(throws: TextRefusal.controlCharacter) { try Detail(label: "a\nb", value: "x") }
        #expect(throws: TextRefusal.controlCharacter) { try Detail(label: "x", value: "a\nissuer: b") }
    }

    @Test(
        "A message whose lines do not survive is refused",
        arguments: [
            ("\n", .empty), ("\n\n", .empty), (" \n ", .empty), ("\na", .outerLineFeed), ("a\n", .outerLineFeed),
            ("\n\n\na", .outerLineFeed), ("a \nb", .trailingBlank), ("a\n \nb", .trailingBlank),
            ("a\nb ", .trailingBlank), ("a\n\u{A0}\nb", .trailingBlank), ("a\n\n\nb", .blankLines),
            ("a\n\n\n\n\nb", .blankLines), ("a\n\nb\n\n\nc", .blankLines),
        ] as [(String, TextRefusal)])
    func messages(text: String, refusal: TextRefusal) {
        #expect(throws: refusal) { try DisplayMessage(text) }
    }

    @Test("Lengths count Unicode scalars, neither bytes nor characters")
    func lengths() throws {
        for unit in ["a", "\u{E9}", "大", "🙂"] {
            func text(_ count: Int) -> String { String(repeating: unit, count: count) }
            #expect(try DisplayLine(text(1000)).text.unicodeScalars.count == 1000)
            #expect(throws: TextRefusal.tooLong) { try DisplayLine(text(1001)) }
            #expect(try DisplayLine(text(3), atMost: 3).text == text(3))
            #expect(throws: TextRefusal.tooLong) { try DisplayLine(text(4), atMost: 3) }
            #expect(try ClientName(text(64)).text == text(64))
            #expect(throws: TextRefusal.tooLong) { try ClientName(text(65)) }
            #expect(try Detail(label: text(64), value: text(1000)).label.text == text(64))
            #expect(throws: TextRefusal.tooLong) { try Detail(label: text(65), value: "x") }
            #expect(throws: TextRefusal.tooLong) { try Detail(label: "x", value: text(1001)) }
            #expect(try DisplayMessage(text(5000)).text == text(5000))
            #expect(try DisplayMessage(text(155), atMost: 155).text == text(155))
            #expect(throws: TextRefusal.tooLong) { try DisplayMessage(text(156), atMost: 155) }
        }
        // One character on the screen, two scalars.
        #expect(throws: TextRefusal.tooLong) { try DisplayLine("x\u{323}\u{301}", atMost: 2) }
    }

    @Test("No equals sign in a label, for the first one ends it; any number in a value")
    func labels() throws {
        for label in ["=", "a=b", "a =", "= a", "a="] {
            #expect(throws: TextRefusal.equalsSign) { try Detail(label: label, value: "x") }
        }
        #expect(try Detail(label: "a", value: "= b = c").value.text == "= b = c")
        // U+0338 would make the sign another one where it stands behind it: in front of it is a blank.
        #expect(try Detail(label: "a", value: "\u{338}b").value.text.hasSameBytes(as: "\u{338}b"))
    }

    @Test("No parenthesis in a client's name, for its id stands in them behind it")
    func clientNames() throws {
        for name in ["(", ")", "Acme (Bank)", "Acme (cli_01m7w77m7b081040g2081040g2", "a)"] {
            #expect(throws: TextRefusal.parenthesis) { try ClientName(name) }
        }
        #expect(try ClientName("Acme [Bank]").text == "Acme [Bank]")
    }

    @Test("Texts of the same look but other bytes are different texts")
    func bytes() throws {
        #expect(try DisplayLine("\u{3A9}").text.hasSameBytes(as: "\u{3A9}"))
        #expect(throws: TextRefusal.notNormalized) { try DisplayLine("\u{2126}") }
        #expect(try DisplayLine("A") != DisplayLine("\u{391}"))
    }

    @Test("Each refusal has a code of its own, in lower case")
    func codes() {
        #expect(Set(TextRefusal.allCases.map(\.rawValue)).count == TextRefusal.allCases.count)
        for refusal in TextRefusal.allCases { #expect(refusal.rawValue.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil) }
        let tested = Set(Self.refusedEverywhere.map(\.1)).union([
            .tooLong, .lineTooLong, .leadingBlank, .outerLineFeed, .blankLines, .equalsSign, .parenthesis,
        ])
        #expect(tested == Set(TextRefusal.allCases))
    }
}
