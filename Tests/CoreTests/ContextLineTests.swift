import CountersignCore
import CountersignWire
import Encodings
import Testing

@Suite("The line that says from where a user started something")
struct ContextLineTests {
    static let firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0"
    static let chrome =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile "
        + "Safari/537.36"
    static let safari =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        + "Version/18.1 Mobile/15E148 Safari/604.1"
    static let edge =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
        + "Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0"

    @Test(
        "Product and system are named, nothing else of the browser's words",
        arguments: [
            (firefox, "Firefox on Windows"), (chrome, "Chrome on Android"), (safari, "Safari on iPhone"),
            (edge, "Edge on macOS"), ("curl/8.5.0", "curl"), ("", "Unknown browser"),
            ("Your bank. Press approve! Linux", "Unknown browser on Linux"),
            ("Firefox/1 \u{202E}evil\n\u{0}", "Firefox"),
        ])
    func browsers(_ userAgent: String, _ expected: String) {
        #expect(ContextLine(address: nil, userAgent: userAgent)?.line.text == expected)
    }

    @Test(
        "Addresses are shown in their one spelling",
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::1", "::1"),
            ("::ffff:203.0.113.7", "::ffff:203.0.113.7"),
        ])
    func addresses(_ address: String, _ expected: String) {
        #expect(ContextLine(address: address, userAgent: nil)?.line.text == expected)
        #expect(
            ContextLine(address: address, userAgent: Self.firefox)?.line.text == "Firefox on Windows, \(expected)")
    }

    @Test(
        "What is not an address makes no line, with or without a browser",
        arguments: [
            "", "localhost", "203.0.113", "203.0.113.256", "203.0.113.7, Berlin", "203.0.113.7 ", "1::2::3",
            "fe80::1%eth0", "your bank", "203.0.113.7/24", "[::1]",
        ])
    func notAddresses(_ address: String) {
        #expect(ContextLine(address: address, userAgent: nil) == nil)
        #expect(ContextLine(address: address, userAgent: Self.firefox) == nil)
    }

    @Test("Nothing makes no line")
    func nothing() {
        #expect(ContextLine(address: nil, userAgent: nil) == nil)
    }

    @Test("What a client says is marked so, behind the place")
    func said() throws {
        let line = try #require(ContextLine(address: "203.0.113.7", userAgent: Self.firefox))
        let said = line.placed(by: Known(), in: nil).said(by: try ClientName("ACME Shop"))
        #expect(said?.line.text == "Firefox on Windows, 203.0.113.7, Cologne, Germany (says ACME Shop)")
        // Also in other words.
        let german = said?.worded(in: LanguageTag("de"))
        #expect(german?.line.text == "Firefox on Windows, 203.0.113.7, Köln, Germany (says ACME Shop)")
        let elsewhere = said?.placed(at: nil, in: nil)
        #expect(elsewhere?.line.text == "Firefox on Windows, 203.0.113.7 (says ACME Shop)")
    }

    @Test("A client's name with brackets does not end the remark", arguments: ["ACME] seen in Berlin [x", "ACME） （x"])
    func saidByBrackets(_ name: String) throws {
        let line = try #require(ContextLine(address: "203.0.113.7", userAgent: nil))
        #expect(line.said(by: try ClientName(name))?.line.text == "203.0.113.7 (says the client)")
    }

    private struct Known: Places {
        func place(of address: String) -> Place? { address == "203.0.113.7" ? ContextLineTests.cologne : nil }
    }

    static let cologne: Place? = {
        guard let german = LanguageTag("de") else { return nil }
        return Place(
            city: .init([.english: "Cologne", german: "Köln"]), country: .init([.english: "Germany"]),
            countryCode: "DE")
    }()

    @Test("The place of the address stands at the end, in a language")
    func place() throws {
        let line = try #require(ContextLine(address: "203.0.113.7", userAgent: Self.firefox))
        let placed = line.placed(by: Known(), in: LanguageTag("de"))
        #expect(placed.line.text == "Firefox on Windows, 203.0.113.7, Köln, Germany")
        #expect(placed.worded(in: nil).line.text == "Firefox on Windows, 203.0.113.7, Cologne, Germany")
        #expect((placed.address, placed.userAgent) == (line.address, line.userAgent))
        // It is named anew, and is no longer looked up.
        #expect(placed.placed(by: NoPlaces(), in: nil).line == placed.worded(in: nil).line)
        #expect(placed.placed(at: nil, in: nil) == line)
    }

    @Test("Without a place, or an address, nothing changes", arguments: ["203.0.113.8", nil])
    func noPlace(_ address: String?) throws {
        let line = try #require(ContextLine(address: address, userAgent: Self.firefox))
        #expect(line.placed(by: Known(), in: nil) == line)
        #expect(line.json.text == line.placed(by: NoPlaces(), in: nil).json.text)
        #expect(line.json["place"] == nil)
    }

    @Test("What is stored of a line is read as it was, with its place of the time")
    func stored() throws {
        let line = try #require(ContextLine(address: "203.0.113.7", userAgent: Self.firefox))
        #expect(line.json.text == #"{"address":"203.0.113.7","agent":"\#(Self.firefox)"}"#)
        #expect(ContextLine(line.json) == line)
        let placed = line.placed(by: Known(), in: LanguageTag("de"))
        #expect(ContextLine(placed.json, in: LanguageTag("de")) == placed)
        #expect(ContextLine(placed.json)?.line == placed.worded(in: nil).line)
    }
}
