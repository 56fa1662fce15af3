import CountersignWire
import Encodings
import OpenPGP
import Testing

@Suite("What is not a receipt")
struct ReceiptRefusalTests {
    /// The text of the full receipt with the first line that begins so replaced.
    private static func text(_ line: String, _ replacement: String?) throws -> String {
        var lines = try Golden.full.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let index = try #require(lines.firstIndex { $0.hasPrefix(line) })
        if let replacement { lines[index] = replacement } else { lines.remove(at: index) }
        return lines.joined(separator: "\n")
    }

    @Test(
        "A line that is wrong is refused by its name",
        arguments: [
            ("issuer: ", "issuer: login.example.com"), ("issuer: ", "issuer: https://login.example.com/"),
            ("issuer: ", "issuer: http://login.example.com"), ("issuer: ", "issuer:  https://login.example.com"),
            ("issuer: ", "Issuer: https://login.example.com"), ("issuer: ", "issuer:https://login.example.com"),
            ("challenge: ", "challenge: usr_01m7w77m7b0c1g60r30c1g60r3"),
            ("challenge: ", "challenge: chl_01M7W77M7B040G2081040G2081"),
            ("challenge: ", "challenge: chl_01m7w77m7b040g2081040g208"), ("challenge: ", "challenge: "),
            ("nonce: ", "nonce: 000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
            ("nonce: ", "nonce: 00"), ("nonce: ", "nonce: "),
            ("client: ", "client: Acme Bank"), ("client: ", "client: (cli_01m7w77m7b081040g2081040g2)"),
            ("client: ", "client:  (cli_01m7w77m7b081040g2081040g2)"),
            ("client: ", "client: Acme Bank(cli_01m7w77m7b081040g2081040g2)"),
            ("client: ", "client: Acme Bank  (cli_01m7w77m7b081040g2081040g2)"),
            ("client: ", "client: Acme (Bank) (cli_01m7w77m7b081040g2081040g2)"),
            ("client: ", "client: Acme Bank (usr_01m7w77m7b0c1g60r30c1g60r3)"),
            ("client: ", "client: Acme Bank (cli_01m7w77m7b081040g2081040g2) "),
            ("client: ", "client: Acme\u{202E} Bank (cli_01m7w77m7b081040g2081040g2)"),
            ("user: ", "user: enr_01m7w77m7b0c1g60r30c1g60r3"), ("user: ", "user: Alice"),
            ("device: ", "device: 9A9B"), ("device: ", "device: "),
            ("device: ", "device: 9A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAG"),
            ("decision: ", "decision: Approved"), ("decision: ", "decision: yes"), ("decision: ", "decision: "),
            ("decision: ", "decision: approved "),
            ("method: ", "method: biometrics"), ("method: ", "method: Confirm"), ("method: ", "method: "),
            ("number: ", "number: 47193"), ("number: ", "number: 4719321"), ("number: ", "number: 47193a"),
            ("number: ", "number: ٤٧١٩٣٢"), ("number: ", "number: "),
            ("type: ", "type: Payment"), ("type: ", "type: "), ("type: ", "type: pay ment"),
            ("context: ", "context: "), ("context: ", "context: a "), ("context: ", "context: a\u{2028}b"),
            ("asked: ", "asked: 2026-11-20 10:15:02Z"), ("asked: ", "asked: 2026-02-30T10:15:02Z"),
            ("asked: ", "asked: 2026-11-20T10:15:02+00:00"),
            ("answered: ", "answered: 1795169731"), ("answered: ", "answered: 2026-11-20T24:00:00Z"),
            ("detail: ", "detail: Amount"), ("detail: ", "detail: Amount=EUR 1"), ("detail: ", "detail:  = EUR 1"),
            ("detail: ", "detail: Amount = "), ("detail: ", "detail: Amo=unt = EUR 1"),
            ("signing-data: ", "signing-data: sha256:"), ("signing-data: ", "signing-data: sha256:00ff"),
            ("signing-data: ", "signing-data: sha1:90fc0e734646e4ff5c2a441c37f5fd8839cc034e"),
            ("signing-data: ", "signing-data: {}"),
            ("message:", "message"), ("message:", "message: "), ("message:", "Message:"),
        ])
    func malformed(line: String, replacement: String) throws {
        let field = line.split(separator: ":").first.map(String.init) ?? ""
        let text = try Self.text(line, replacement)
        #expect(throws: ReceiptError.malformedField(field)) { try Receipt(parsing: text) }
    }

    @Test("An approval by a custom authenticator names its data, and nothing else does")
    func customData() throws {
        let custom = try Golden.custom.text
        let line = try #require(custom.split(separator: "\n").first { $0.hasPrefix("custom-data: ") })
        for (text, error) in [
            (custom.replacing("\(line)\n", with: ""), ReceiptError.malformedField("custom-data")),
            (custom.replacing("\(line)\n", with: "\(line)\n\(line)\n"), .malformedField("type")),
            (custom.replacing(line, with: "custom-data: sha256:2c26"), .malformedField("custom-data")),
            (
                custom.replacing(line, with: "custom-data: " + line.dropFirst(13).uppercased()),
                .malformedField("custom-data")
            ),
            (custom.replacing("custom:voice-print", with: "custom:"), .malformedField("method")),
            (custom.replacing("custom:voice-print", with: "custom:Voice"), .malformedField("method")),
            (custom.replacing("custom:voice-print", with: "pin"), .malformedField("type")),
        ] {
            #expect(throws: error, "\(text)") { try Receipt(parsing: text) }
        }
        let upper = line.replacing("2c26", with: "2C26")
        #expect(throws: ReceiptError.notCanonical) { try Receipt(parsing: custom.replacing(line, with: upper)) }
    }

    @Test(
        "A line that must be there and is not is refused by its name",
        arguments: [
            "issuer", "challenge", "nonce", "client", "user", "device", "decision", "method", "type", "asked",
            "answered", "message",
        ])
    func missing(field: String) throws {
        let text = try Self.text("\(field):", nil)
        #expect(throws: ReceiptError.malformedField(field)) { try Receipt(parsing: text) }
    }

    @Test(
        "A line that may be absent makes another receipt when it is",
        arguments: ["number", "context", "detail", "signing-data"])
    func optional(field: String) throws {
        let text = try Self.text("\(field):", nil)
        let receipt = try Receipt(parsing: text)
        #expect(receipt != (try Golden.full.receipt))
        #expect(receipt.text.hasSameBytes(as: text))
    }

    @Test(
        "Another spelling of the same value is refused as not canonical",
        arguments: [
            ("device: ", "device: 9a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacad"),
            ("asked: ", "asked: 2026-11-20T10:15:02.000Z"), ("answered: ", "answered: 2026-11-20T10:15:31.000Z"),
            (
                "signing-data: ",
                "signing-data: sha256:90FC0E734646E4FF5C2A441C37F5FD8839CC034ECDE261D0C73B37AD6B3F6B34"
            ),
        ])
    func notCanonical(line: String, replacement: String) throws {
        let text = try Self.text(line, replacement)
        #expect(throws: ReceiptError.notCanonical) { try Receipt(parsing: text) }
    }

    @Test("Every line in another's place, or twice, is refused", arguments: 0..<19)
    func order(index: Int) throws {
        let lines = try Golden.full.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 20)
        var swapped = lines
        swapped.swapAt(index, index + 1)
        var doubled = lines
        doubled.insert(lines[index], at: index)
        let isDetail = lines[index].hasPrefix("detail: ")
        let isMovedIntoMessage = lines[index + 1] == "message:"
        if isMovedIntoMessage || isDetail && lines[index + 1].hasPrefix("detail: ") {
            // The order of details is part of what was signed, and so is a message that looks like a field.
            #expect(try Receipt(parsing: swapped.joined(separator: "\n")) != Golden.full.receipt)
        } else {
            #expect(throws: ReceiptError.self) { try Receipt(parsing: swapped.joined(separator: "\n")) }
        }
        if isDetail {
            #expect(try Receipt(parsing: doubled.joined(separator: "\n")) != Golden.full.receipt)
        } else if lines[index] == "message:" {
            #expect(try Receipt(parsing: doubled.joined(separator: "\n")).message.text.hasPrefix("message:\n"))
        } else {
            #expect(throws: ReceiptError.self) { try Receipt(parsing: doubled.joined(separator: "\n")) }
        }
    }

    @Test(
        "What does not begin as a receipt is none",
        arguments: [
            "", "\n", "Countersign receipt v2", "countersign receipt v1", "Countersign receipt v1 ",
            "Countersign receipt v1\r", " Countersign receipt v1", "Countersign change v1",
            "Countersign removal notice v1", "\u{FEFF}Countersign receipt v1",
        ])
    func title(title: String) throws {
        let text = try Self.text("Countersign receipt v1", title)
        #expect(throws: ReceiptError.notAReceipt) { try Receipt(parsing: text) }
    }

    @Test("A receipt ends with its message, without a newline")
    func ends() throws {
        let text = try Golden.full.text
        for end in ["\n", " ", "\r", "\u{0}", "\n\n\nmore"] {
            #expect(throws: ReceiptError.malformedField("message")) { try Receipt(parsing: text + end) }
        }
        let bare = String(text.prefix(upTo: try #require(text.firstRange(of: "message:")).lowerBound))
        for end in ["message:", "message:\n", "message:\n ", ""] {
            #expect(throws: ReceiptError.malformedField("message")) { try Receipt(parsing: bare + end) }
        }
        #expect(throws: ReceiptError.notAReceipt) {
            try Receipt(parsing: text.split(separator: "\n").joined(separator: "\r\n"))
        }
    }

    @Test("A no has neither method nor number", arguments: ["denied", "reported"])
    func noes(decision: String) throws {
        let text = try Self.text("decision: ", "decision: \(decision)")
        #expect(throws: ReceiptError.malformedField("type")) { try Receipt(parsing: text) }
    }

    @Test("What a message says is never read as a field")
    func injection() throws {
        let sample = try Sample()
        let message = "Sign in?\ndecision: approved\nmethod: confirm\nmessage:\nCountersign receipt v1"
        let receipt = sample.receipt(of: try sample.question(message), .denied)
        let read = try Receipt(parsing: receipt.text)
        #expect(read.decision == .denied)
        #expect(read.message.text == message)
    }
}
