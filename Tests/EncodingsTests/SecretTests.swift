import Encodings
import Logging
import TestSupport
import Testing

@Suite("Secrets")
struct SecretTests {
    /// Texts and bytes that must not be seen, in every way a value can be turned into text.
    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var printed = ""
        print(value, to: &printed)
        var debugged = ""
        debugPrint(value, to: &debugged)
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, printed, debugged,
            "\([value])", "\(["key": value])", "\(Optional(value) as Any)", "\((1, value))",
            "\(Mirror(reflecting: value).children.map { $0 })", "\(Result<Any, CancellationError>.success(value))",
        ]
    }

    /// A value that holds a secret, as most do.
    private struct Holder {
        let name = "key"
        let secret = Secret("hunter2")
    }

    @Test("A secret prints, dumps, mirrors and interpolates as dots, alone and inside others")
    func prints() {
        for value in [Secret("hunter2"), Optional(Secret("hunter2")) as Any, Holder()] as [Any] {
            for text in texts(of: value) { #expect(!text.contains("hunter2"), "\(text)") }
        }
        let bytes: [UInt8] = [104, 117, 110, 116, 101, 114, 50]
        for text in texts(of: Secret(bytes)) { #expect(!text.contains("117") && !text.contains("0x75"), "\(text)") }
        for text in ["\(Secret("hunter2"))", String(reflecting: Secret("hunter2"))] { #expect(text == "•••") }
        #expect(Mirror(reflecting: Secret("hunter2")).children.isEmpty)
        #expect(Mirror(reflecting: Secret("hunter2")).descendant("value") == nil)
        #expect(Secret("hunter2").reveal() == "hunter2")
    }

    @Test("The metadata of a log entry shows dots")
    func metadata() {
        let book = LogBook()
        let secret = Secret("hunter2")
        book.logger.critical("\(secret)", metadata: ["one": "\(secret)", "two": .stringConvertible(secret)])
        #expect(book.entries == ["critical ••• one=••• two=•••"])
    }

    @Test("No secret can be encoded, compared, hashed, sorted or walked through")
    func conformances() {
        // Each of these would be a way out, or a comparison whose time tells.
        for secret in [Secret("a"), Secret<[UInt8]>([1]), Secret(1), Secret(true)] as [Any] {
            #expect(!(secret is any Encodable))
            #expect(!(secret is any Decodable))
            #expect(!(secret is any Equatable))
            #expect(!(secret is any Hashable))
            #expect(!(secret is any Comparable))
            #expect(!(secret is any Sequence))
            #expect(!(secret is any RawRepresentable))
            #expect(!(secret is any LosslessStringConvertible))
            #expect(!(secret is any TextOutputStreamable))
            #expect(!(secret is any Identifiable))
            #expect(!(secret is any CodingKeyRepresentable))
            #expect(secret is any CustomReflectable)
        }
    }

    @Test("There is no == for secrets: the one that is found is this test's own")
    func noEquality() {
        // With any other `==` in sight this would be ambiguous, or a Bool; it would not compile.
        let bytes: NoEquality = Secret<[UInt8]>([1]) == Secret<[UInt8]>([1])
        let text: NoEquality = Secret("a") == Secret("a")
        #expect(type(of: bytes) == NoEquality.self && type(of: text) == NoEquality.self)
    }

    @Test("Secrets are compared by their bytes, and by name")
    func compares() {
        #expect(Secret<[UInt8]>([1, 2, 3]).isSame(as: Secret([1, 2, 3])))
        #expect(!Secret<[UInt8]>([1, 2, 3]).isSame(as: Secret([1, 2, 4])))
        #expect(!Secret<[UInt8]>([1, 2, 3]).isSame(as: Secret([1, 2])))
        #expect(Secret("é").isSame(as: Secret("é")))
        #expect(!Secret("\u{E9}").isSame(as: Secret("e\u{301}")))
        #expect(!Secret("").isSame(as: Secret("\u{0}")))
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
}

/// What comparing secrets gives here.
private struct NoEquality {}

private func == <Value>(left: Secret<Value>, right: Secret<Value>) -> NoEquality { NoEquality() }
