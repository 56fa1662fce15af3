import Encodings
import Testing

@Suite("Secrets")
struct SecretTests {
    @Test("A secret prints, dumps and interpolates as dots")
    func prints() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(describing: secret), String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("•••"))
        }
        #expect(secret.reveal() == "hunter2")
    }

    @Test("Secrets of bytes compare by value")
    func compares() {
        #expect(Secret<[UInt8]>([1, 2, 3]) == Secret([1, 2, 3]))
        #expect(Secret<[UInt8]>([1, 2, 3]) != Secret([1, 2, 4]))
    }

    @Test("Constant-time comparison tells equal from unequal at every place")
    func constantTime() {
        let bytes: [UInt8] = Array(0..<32)
        #expect(constantTimeEqual(bytes, bytes))
        #expect(constantTimeEqual([], []))
        #expect(!constantTimeEqual(bytes, Array(bytes.dropLast())))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(!constantTimeEqual(bytes, other))
        }
    }

    @Test("RFC 3629 §3: only well-formed UTF-8 makes a string")
    func strictUTF8() {
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
