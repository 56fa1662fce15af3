import Encodings
import TestSupport
import Testing

@Suite("One text for each sequence of bytes")
struct CanonicalTests {
    @Test("Random bytes come back from every encoding")
    func roundTrip() {
        var generator = SeededGenerator.announced(by: "CanonicalTests.roundTrip")
        for _ in 0..<500 {
            let bytes = generator.bytes(Int.random(in: 0...80, using: &generator))
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            let sixteen = generator.bytes(16)
            #expect(CrockfordBase32.decode(CrockfordBase32.encode(sixteen)) == sixteen)
        }
    }

    @Test("A damaged text is refused, or is the one text of other bytes")
    func mutations() {
        var generator = SeededGenerator.announced(by: "CanonicalTests.mutations")
        for _ in 0..<2000 {
            let bytes = generator.bytes(Int.random(in: 1...24, using: &generator))
            let base64 = String(decoding: generator.mutated(Array(Base64.encode(bytes).utf8)), as: UTF8.self)
            if let decoded = Base64.decode(base64) { #expect(Base64.encode(decoded) == base64) }
            let base64URL = String(decoding: generator.mutated(Array(Base64URL.encode(bytes).utf8)), as: UTF8.self)
            if let decoded = Base64URL.decode(base64URL) { #expect(Base64URL.encode(decoded) == base64URL) }
            let hex = String(decoding: generator.mutated(Array(Hex.encode(bytes).utf8)), as: UTF8.self)
            if let decoded = Hex.decode(hex) { #expect(Hex.encode(decoded) == hex) }
            let base32 = String(
                decoding: generator.mutated(Array(CrockfordBase32.encode(generator.bytes(16)).utf8)), as: UTF8.self)
            if let decoded = CrockfordBase32.decode(base32) { #expect(CrockfordBase32.encode(decoded) == base32) }
        }
    }

    @Test("Every single character other than the right one is refused or stands for other bytes")
    func everyCharacter() {
        let bytes = (0..<16).map { UInt8($0 * 17) }
        let text = Array(CrockfordBase32.encode(bytes).utf8)
        for index in text.indices {
            for character in UInt8.min...0x7F where character != text[index] {
                var other = text
                other[index] = character
                let decoded = CrockfordBase32.decode(String(decoding: other, as: UTF8.self))
                if decoded == bytes { Issue.record("\(String(decoding: other, as: UTF8.self))") }
            }
        }
        // The look-alikes that Crockford's own decoder accepts.
        for character in ["i", "l", "o", "u", "I", "L", "O", "U", "A"] {
            #expect(CrockfordBase32.decode(character + String(repeating: "0", count: 25)) == nil)
        }
    }

    @Test("A part of a text is decoded as a whole text is")
    func substrings() {
        #expect(Hex.decode("xx00ff".dropFirst(2)) == [0, 255])
        #expect(Base64.decode("::Zg==".dropFirst(2)) == [0x66])
        #expect(Base64URL.decode("::Zg".dropFirst(2)) == [0x66])
        #expect(Base64.decode(utf8: Array("__Zm9v__".utf8)[2..<6]) == Array("foo".utf8))
        #expect(
            CrockfordBase32.decode("chl_00000000000000000000000001".dropFirst(4)) == [UInt8](repeating: 0, count: 15)
                + [1])
    }

    /// What every decoder of text owes: what it accepts is what its encoder writes.
    private static func judge(_ text: String) {
        if let bytes = Hex.decode(text) { #expect(Hex.encode(bytes).hasSameBytes(as: text)) }
        if let bytes = Base64.decode(text) { #expect(Base64.encode(bytes).hasSameBytes(as: text)) }
        if let bytes = Base64URL.decode(text) { #expect(Base64URL.encode(bytes).hasSameBytes(as: text)) }
        if let bytes = CrockfordBase32.decode(text) { #expect(CrockfordBase32.encode(bytes).hasSameBytes(as: text)) }
    }

    @Test("RFC 4648 §3.5: every text of up to two characters, and random ones, is refused or the one spelling")
    func everyText() {
        let characters = Array(UInt8(0x20)...0x7E) + [0x00, 0x0A, 0x0D, 0x09]
        Self.judge("")
        for first in characters {
            Self.judge(String(decoding: [first], as: UTF8.self))
            for second in characters { Self.judge(String(decoding: [first, second], as: UTF8.self)) }
        }
        var generator = SeededGenerator.announced(by: "CanonicalTests.everyText")
        let likely = Array("ABCDEFabcdef0123456789+/-_=wzxhjkmnpqrstvy".utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            let length = [3, 4, 4, 6, 7, 8, 26].randomElement(using: &generator) ?? 4
            let bytes = (0..<length).map { _ in likely.randomElement(using: &generator) ?? 0 }
            let text = String(decoding: bytes, as: UTF8.self)
            Self.judge(text)
            if Base64URL.decode(text) != nil { accepted += 1 }
        }
        // A property of texts that are all refused would hold of any decoder.
        #expect(accepted > 100)
    }

    @Test("Letters that only look alike, or are equivalent, are no digits")
    func lookAlikes() {
        // Fullwidth and mathematical letters, the Kelvin sign (canonically K), a Cyrillic A.
        for letter in ["\u{FF21}", "\u{1D400}", "\u{212A}", "\u{410}", "\u{FF10}", "\u{660}"] {
            for text in [
                "\(letter)A", "A\(letter)", "AA\(letter)=", "0\(letter)", "\(letter)\(letter)\(letter)\(letter)",
            ] {
                #expect(Hex.decodeIgnoringCase(text) == nil)
                #expect(Base64.decode(text) == nil)
                #expect(Base64URL.decode(text) == nil)
            }
            #expect(CrockfordBase32.decode(String(repeating: "0", count: 25) + letter) == nil)
        }
    }
}
