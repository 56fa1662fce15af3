import Encodings
import Testing

@Suite("RFC 4648 §4, §5: base 64")
struct Base64Tests {
    @Test(
        "RFC 4648 §10: the test vectors, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        let unpadded = encoded.filter { $0 != "=" }
        #expect(Base64URL.encode(Array(plain.utf8)) == unpadded)
        #expect(Base64URL.decode(unpadded) == Array(plain.utf8))
    }

    @Test("Bytes of every length and value come back")
    func roundTrip() {
        for length in 0...130 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test(
        "RFC 4648 §3.5: a second spelling of the same bytes is refused",
        arguments: ["AB==", "AP==", "AAB=", "Zg=", "Zg", "Zg===", "Zm9v=", "====", "A===", "=", "Zg==Zg=="])
    func notCanonical(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("RFC 4648 §3.3: characters outside the alphabet are refused", arguments: ["Zm9\n", "Zm 9v", "Zm-_", "Zm9é"])
    func foreignCharacters(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(
        "RFC 4648 §5: base64url refuses padding, the other alphabet and spare bits",
        arguments: ["Zg==", "Zm+/", "AB", "AAB", "A", "Zm9vY"])
    func urlRefusals(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}

@Suite("Crockford base 32")
struct CrockfordBase32Tests {
    @Test("16 bytes are 26 characters and come back")
    func roundTrip() {
        let samples: [[UInt8]] = [
            [UInt8](repeating: 0, count: 16), [UInt8](repeating: 255, count: 16), (0..<16).map { UInt8($0 * 16 + 3) },
        ]
        for bytes in samples {
            let text = CrockfordBase32.encode(bytes)
            #expect(text.count == 26)
            #expect(CrockfordBase32.decode(text) == bytes)
        }
        #expect(CrockfordBase32.encode([UInt8](repeating: 255, count: 16)) == "7zzzzzzzzzzzzzzzzzzzzzzzzz")
        #expect(CrockfordBase32.encode([UInt8](repeating: 0, count: 15) + [1]) == "00000000000000000000000001")
    }

    @Test("Texts sort as the bytes do")
    func order() {
        let texts = (0..<16).map { CrockfordBase32.encode([UInt8($0)] + [UInt8](repeating: 7, count: 15)) }
        #expect(texts == texts.sorted())
    }

    @Test(
        "Anything but the one spelling is refused",
        arguments: [
            "8zzzzzzzzzzzzzzzzzzzzzzzzz", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "7zzzzzzzzzzzzzzzzzzzzzzzz",
            "7zzzzzzzzzzzzzzzzzzzzzzzzzz", "7zzzzzzzzzzzzzzzzzzzzzzzzi", "7zzzzzzzzzzzzzzzzzzzzzzzzu",
            "7zzzz-zzzzzzzzzzzzzzzzzzzz", "",
        ])
    func refused(text: String) {
        #expect(CrockfordBase32.decode(text) == nil)
    }
}
