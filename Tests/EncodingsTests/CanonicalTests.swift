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
            if let decoded = Hex.decode(hex) { #expect(Hex.encode(decoded) == hex.lowercased()) }
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
}
