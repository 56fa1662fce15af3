import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Secrets are found in whatever form they stand somewhere")
struct SecretSearchTests {
    private static let token = "cst_q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k"
    private static let bytes: [UInt8] = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 251) }

    private static let search = SecretSearch([
        SecretForms("token", text: token), SecretForms("key", bytes: bytes),
        SecretForms("message", text: "Pay \"EUR 1,250.00\" to Müller & Söhne?"),
    ])

    /// A form of the bytes, by its name.
    private static let forms: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
        ("raw", { $0 }),
        ("base 16", { Array(Hex.encode($0).utf8) }),
        ("base 16 in upper case", { Array(Hex.encodeUppercase($0).utf8) }),
        ("base 64", { Array(Base64.encode($0).utf8) }),
        ("base64url", { Array(Base64URL.encode($0).utf8) }),
        ("a Swift array", { Array("\($0)".utf8) }),
        ("base 64 as JSON escapes it", { Array(Base64.encode($0).replacing("/", with: "\\/").utf8) }),
        (
            "base 64, percent-encoded",
            { bytes in
                Array(Base64.encode(bytes).replacing("+", with: "%2B").replacing("/", with: "%2F").utf8)
            }
        ),
        (
            "base 64, percent-encoded in lower case",
            { bytes in
                Array(Base64.encode(bytes).replacing("+", with: "%2b").replacing("/", with: "%2f").utf8)
            }
        ),
        ("base 64 of more", { Array(Base64.encode(Array("id:".utf8) + $0 + [1]).utf8) }),
        ("base 64 of still more", { Array(Base64.encode(Array("cli_1:".utf8) + [7] + $0).utf8) }),
        ("base64url of more", { Array(Base64URL.encode([9, 9] + $0 + [1, 2]).utf8) }),
        ("base 16 of more", { Array(Hex.encode([1] + $0 + [2]).utf8) }),
    ]

    @Test("Bytes are found in every form, anywhere in a text", arguments: forms.indices)
    func bytes(index: Int) {
        let (name, form) = Self.forms[index]
        let found = form(Self.bytes)
        for (before, after) in [("", ""), ("error key=", ""), ("{\"a\":\"", "\"}\n"), ("x", "x")] {
            let text = Array(before.utf8) + found + Array(after.utf8)
            #expect(Self.search.names(in: text) == ["key"], "\(name)")
        }
    }

    @Test("A token is found as its text, and its bytes without the prefix are", arguments: forms.indices)
    func tokens(index: Int) throws {
        let (name, form) = Self.forms[index]
        #expect(Self.search.names(in: form(Array(Self.token.utf8))) == ["token"], "\(name)")
        let decoded = try #require(Base64URL.decode(Self.token.dropFirst(4)))
        #expect(Self.search.names(in: form(decoded)) == ["token"], "\(name)")
    }

    @Test("A text is found as it is, percent-encoded, and escaped as JSON and Swift do")
    func texts() {
        for form in [
            "Pay \"EUR 1,250.00\" to Müller & Söhne?", "Pay \\\"EUR 1,250.00\\\" to Müller & Söhne?",
            "Pay%20%22EUR%201%2C250.00%22%20to%20M%C3%BCller%20%26%20S%C3%B6hne%3F",
            "Pay%20%22EUR%201%2c250.00%22%20to%20M%c3%bcller%20%26%20S%c3%b6hne%3f",
            "Pay \"EUR 1,250.00\" to Müller & Söhne?".debugDescription,
        ] {
            #expect(Self.search.names(in: "before \(form) after") == ["message"], "\(form)")
        }
    }

    @Test("Nothing is found where nothing is, in a part of a secret or in another one")
    func absent() {
        for text in ["", "cst_", "q83vASNFZ4", "a perfectly ordinary line of a log, request=req_0123456789abcdef"] {
            #expect(Self.search.names(in: text).isEmpty, "\(text)")
        }
        var generator = SeededGenerator.announced(by: "SecretSearchTests.absent")
        for _ in 0..<200 {
            #expect(Self.search.names(in: Base64.encode(generator.bytes(300))).isEmpty)
            #expect(Self.search.names(in: Hex.encode(generator.bytes(300))).isEmpty)
        }
        for index in Self.bytes.indices {
            var other = Self.bytes
            other[index] ^= 1
            #expect(!Self.search.names(in: other).contains("key"))
        }
        #expect(SecretSearch([]).names(in: Self.token).isEmpty)
    }

    @Test("Of several in one text all are found, and a short secret is not looked for")
    func several() {
        let text = "\(Self.token) \(Hex.encode(Self.bytes))"
        #expect(Self.search.names(in: text) == ["token", "key"])
        #expect(SecretSearch([SecretForms("short", text: "1234")]).names(in: "1234").isEmpty)
    }
}
