import CountersignWire
import Encodings
import Testing

@Suite("Text of others steers no terminal and no log")
struct ShownTextTests {
    @Test(
        "Control, C1, bidirectional, format, invisible, private and unassigned characters are escaped",
        arguments: [
            ("\u{1B}[2J", "\\u{1b}[2J"), ("a\u{9B}31m", "a\\u{9b}31m"), ("a\rb", "a\\u{d}b"), ("a\tb", "a\\u{9}b"),
            ("a\u{7F}\u{8}", "a\\u{7f}\\u{8}"), ("a\u{202E}b", "a\\u{202e}b"), ("a\u{2066}b", "a\\u{2066}b"),
            ("a\u{200B}b", "a\\u{200b}b"), ("a\u{FEFF}", "a\\u{feff}"), ("a\u{FE0F}", "a\\u{fe0f}"),
            ("a\u{2028}b", "a\\u{2028}b"), ("\u{E000}", "\\u{e000}"), ("\u{378}", "\\u{378}"),
            ("\u{3164}", "\\u{3164}"),
            ("\u{E0041}", "\\u{e0041}"), ("\r\n", "\\u{d}\n"),
        ])
    func escaped(_ text: String, _ shown: String) {
        #expect(ShownText.escaped(text).hasSameBytes(as: shown))
        #expect(ShownText.line(text).hasSameBytes(as: shown.replacing("\n", with: "\\u{a}")))
    }

    @Test("What is harmless stays as it is, lines too", arguments: ["", "a\nb\n", "Grüße, 大阪 ▀█ שלום 🙂", "a\n\n"])
    func harmless(_ text: String) {
        #expect(ShownText.escaped(text).hasSameBytes(as: text))
    }

    @Test("Isolates stay where they end in their line, and nowhere else")
    func isolates() {
        let kept = "From \u{2068}שלום\u{2069}: a"
        #expect(ShownText.escaped(kept).hasSameBytes(as: kept))
        #expect(ShownText.escaped("\u{2068}a\nb\u{2069}") == "\\u{2068}a\nb\\u{2069}")
        #expect(ShownText.escaped("\u{2069}\u{2068}") == "\\u{2069}\\u{2068}")
        #expect(ShownText.line(kept) == "From \\u{2068}שלום\\u{2069}: a")
    }

    @Test(
        "Unicode Standard Annex 9: what is written from right to left is confined among our words, and cannot break out"
    )
    func confined() {
        // Spec: Unicode Standard Annex 9, *Explicit Directional Isolates*.
        #expect(ShownText.isolated("ACME") == "ACME")
        #expect(ShownText.isolated("שלום").hasSameBytes(as: "\u{2068}שלום\u{2069}"))
        #expect(
            ShownText.isolated("ש\u{2069}\n\u{202E}a").hasSameBytes(as: "\u{2068}ש\\u{2069}\\u{a}\\u{202e}a\u{2069}"))
        #expect(ShownText.confined("a שלום").hasSameBytes(as: "\u{2068}a שלום\u{2069}"))
    }

    @Test(
        "RFC 8259 §7: JSON means the same, and holds nothing that steers",
        arguments: ["\u{9B}31m", "\u{202E}", "\u{E0041}x\u{E000}", "a\u{2068}b\u{2069}"])
    func json(_ text: String) throws {
        let value: JSONValue = ["a": .string(text)]
        let shown = ShownText.json(value)
        #expect(shown.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(try JSONValue(parsing: Array(shown.utf8)) == value)
    }

    @Test("The table of assigned characters is one version of Unicode, whatever the system knows")
    func table() {
        #expect(AssignedCharacters.version == "14.0.0")
        // The last that 14.0 has, and ones that came with 15.0 and 16.0.
        for scalar: Unicode.Scalar in ["\0", "a", "\u{1FAF6}", "\u{2A6DF}", "\u{E01EF}"] {
            #expect(AssignedCharacters.contains(scalar), "\(scalar.value)")
        }
        for scalar: Unicode.Scalar in ["\u{1FAE8}", "\u{11F00}", "\u{10D40}", "\u{E000}", "\u{10FFFF}", "\u{378}"] {
            #expect(!AssignedCharacters.contains(scalar), "\(scalar.value)")
        }
    }
}
