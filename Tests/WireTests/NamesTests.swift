import CountersignWire
import Encodings
import Testing

@Suite("Names and numbers")
struct NamesTests {
    @Test(
        "Types are named by 1 to 64 lower case letters, digits, hyphens and low lines, a letter first",
        arguments: ["a", "confirm", "payment-2", "a_b", "z", "a0", String(repeating: "a", count: 64), "a-", "a__"])
    func types(name: String) throws {
        #expect(try #require(TypeName(name)).description == name)
    }

    @Test(
        "Any other name of a type is refused",
        arguments: [
            "", "A", "Payment", "0", "0a", "-a", "_a", "a b", "a.b", "a/b", "a:b", "a\n", " a", "a ", "é", "a\u{301}",
            "aé", "a\u{0}", "ａ", "\u{212A}", String(repeating: "a", count: 65),
        ])
    func otherTypes(name: String) {
        #expect(TypeName(name) == nil)
    }

    @Test("The type that exists from the start has a name like any other")
    func confirm() {
        #expect(TypeName("confirm") == .confirm)
    }

    @Test("A nonce is 32 bytes, written as 64 lower case digits")
    func nonces() throws {
        let text = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        let nonce = try #require(Nonce(text))
        #expect(nonce.bytes == Array(0..<32))
        #expect(nonce.description == text)
        #expect(Nonce(bytes: Array(0..<32)) == nonce)
        for other in [
            "", "00", text.uppercased(), String(text.dropLast()), String(text.dropLast(2)), text + "00", text + "0",
            " \(text)", "\(text)\n", String(text.dropLast()) + "g", "0x\(text.dropFirst(2))",
        ] {
            #expect(Nonce(other) == nil, "\(other)")
        }
        for count in [0, 31, 33] { #expect(Nonce(bytes: [UInt8](repeating: 0, count: count)) == nil) }
    }

    @Test("A number has six ASCII digits")
    func numbers() throws {
        #expect(EntryNumber.length == 6)
        for text in ["000000", "471932", "999999"] {
            #expect(try #require(EntryNumber(text)).digits == text)
            #expect(EntryNumber(value: try #require(UInt32(text))).digits == text)
        }
        #expect(EntryNumber(value: 0).digits == "000000")
        #expect(EntryNumber(value: 42).digits == "000042")
        for text in [
            "", "1", "47193", "4719321", "47193a", " 47193", "47193 ", "+47193", "-47193", "47.193", "4719\n", "٤٧١٩٣٢",
            "４７１９３２", "47193\u{301}", "0x4719",
        ] {
            #expect(EntryNumber(text) == nil, "\(text)")
        }
    }

    @Test("A custom authenticator has a name of its own, of 32 characters at most")
    func authenticators() throws {
        let longest = "a" + String(repeating: "0", count: 31)
        for name in ["a", "voice-print", "face_2", longest] {
            let method = try #require(AnswerMethod(rawValue: "custom:\(name)"))
            #expect(method.rawValue == "custom:\(name)")
            #expect(method == .custom(try #require(AuthenticatorName(name))))
        }
        for name in ["", "Voice", "1a", "-a", "a b", "a:b", "ä", "a\n", "a\u{301}", longest + "0"] {
            #expect(AuthenticatorName(name) == nil && AnswerMethod(rawValue: "custom:\(name)") == nil, "\(name)")
        }
        for word in ["custom", "Custom:a", "custom :a", "custom: a", "custom:a "] {
            #expect(AnswerMethod(rawValue: word) == nil, "\(word)")
        }
    }

    @Test("The methods are a closed set with the names of the receipt")
    func methods() {
        #expect(AnswerMethod.standard.map(\.rawValue) == ["confirm", "pin", "biometric"])
        for name in ["", "Confirm", "confirm ", "none", "PIN", "pin\n"] { #expect(AnswerMethod(rawValue: name) == nil) }
    }
}
