import Encodings
import TestSupport
import Testing

@Suite("RFC 3629: strict UTF-8")
struct StrictUTF8Tests {
    /// What the standard library's own validator says.
    private func isWellFormed(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test("RFC 3629 §4: every sequence of one and two bytes is judged as the standard library judges it")
    func short() {
        var accepted = 0
        for first in UInt8.min...UInt8.max {
            #expect((String(strictUTF8: [first]) != nil) == (first < 0x80))
            for second in UInt8.min...UInt8.max {
                let text = String(strictUTF8: [first, second])
                if (text != nil) != isWellFormed([first, second]) { Issue.record("\(Hex.encode([first, second]))") }
                if text != nil { accepted += 1 }
            }
        }
        // 128 × 128 pairs of ASCII and 30 × 64 characters of two bytes.
        #expect(accepted == 128 * 128 + 30 * 64)
    }

    @Test("RFC 3629 §4: every pair of lead and second byte of the longer forms is judged alike")
    func long() {
        for lead in UInt8(0xE0)...0xFF {
            for second in UInt8.min...UInt8.max {
                for tail in [[0x80], [0xBF], [0x80, 0x80], [0xBF, 0xBF], [0x7F], [0xC0, 0x80]] as [[UInt8]] {
                    let bytes = [lead, second] + tail
                    guard (String(strictUTF8: bytes) != nil) != isWellFormed(bytes) else { continue }
                    Issue.record("\(Hex.encode(bytes))")
                }
            }
        }
        #expect(String(strictUTF8: [0xE0, 0x9F, 0xBF]) == nil)
        #expect(String(strictUTF8: [0xED, 0xA0, 0x80]) == nil)
        #expect(String(strictUTF8: [0xF0, 0x8F, 0xBF, 0xBF]) == nil)
        #expect(String(strictUTF8: [0xF4, 0x8F, 0xBF, 0xBF]) == "\u{10FFFF}")
        #expect(String(strictUTF8: [0xF4, 0x90, 0x80, 0x80]) == nil)
    }

    @Test("What is accepted has exactly the bytes that came in, whatever they were")
    func random() {
        var generator = SeededGenerator.announced(by: "StrictUTF8Tests.random")
        let valid = Array("Zahlung an Müller & Söhne: 12,50 € – 支払い 😀\u{FFFD}\u{0}".utf8)
        for _ in 0..<3000 {
            let bytes = generator.mutated(valid)
            let text = String(strictUTF8: bytes)
            #expect((text != nil) == isWellFormed(bytes), "\(Hex.encode(bytes))")
            if let text { #expect(Array(text.utf8) == bytes) }
        }
    }

    @Test("Substrings are compared by bytes as well")
    func substrings() {
        let text = "key: value"
        #expect(text.dropFirst(5).hasSameBytes(as: "value"))
        #expect(!text.dropFirst(5).hasSameBytes(as: "Value"))
        #expect(!"".hasSameBytes(as: "\u{0}"))
        #expect("".hasSameBytes(as: ""))
    }

    @Test("RFC 3629 §3: only well-formed UTF-8 makes a string")
    func examples() {
        #expect(String(strictUTF8: Array("né".utf8)) == "né")
        #expect(String(strictUTF8: Array("\u{FFFD}".utf8)) == "\u{FFFD}")
        let malformed: [[UInt8]] = [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xFF], [0x41, 0xC3],
        ]
        for bytes in malformed { #expect(String(strictUTF8: bytes) == nil) }
    }

    @Test("Canonically equivalent texts of other bytes are told apart")
    func sameBytes() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(!composed.hasSameBytes(as: decomposed))
        #expect(composed.hasSameBytes(as: "é"))
    }
}
