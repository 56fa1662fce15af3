import CountersignWire
import Encodings
import Testing

@Suite("Custom authenticators")
struct AuthenticatorChangeTests {
    private let sample: Sample
    private let name: AuthenticatorName

    init() throws {
        sample = try Sample()
        name = try #require(AuthenticatorName("voice-print"))
    }

    private func change(_ hash: [UInt8]?) -> AuthenticatorChange {
        AuthenticatorChange(sample.changeHeader, name: name, customDataHash: hash)
    }

    @Test("The text, line by line")
    func text() {
        #expect(
            change([UInt8](repeating: 0xAB, count: 32)).text == """
                Countersign change v1
                issuer: https://login.example.com
                enrollment: \(sample.enrollment)
                nonce: \(sample.nonce)
                method: custom:voice-print
                custom-data: sha256:\(String(repeating: "ab", count: 32))
                """)
        #expect(change(nil).text.hasSuffix("method: custom:voice-print"))
    }

    @Test("Registering and giving up are read as they were written, and a change of keys is neither")
    func roundTrip() {
        for change in [change([UInt8](repeating: 7, count: 32)), change(nil)] {
            #expect(AuthenticatorChange(change.text) == change)
            #expect(MethodChange(change.text) == nil)
        }
        let keys = MethodChange(
            sample.changeHeader, method: .pin, old: nil, new: sample.device, certificate: [1, 2, 3])
        #expect(AuthenticatorChange(keys.text) == nil)
        let odd = keys.text.replacing("method: pin", with: "method: custom:voice-print")
        #expect(MethodChange(odd) == nil && AuthenticatorChange(odd) == nil)
    }

    @Test("A text that differs in one place is none")
    func altered() {
        let text = change([UInt8](repeating: 0xAB, count: 32)).text
        for (place, other) in [
            ("Countersign change v1", "Countersign custom data v1"), ("v1\n", "v1\n\n"), ("issuer: ", "issuer:  "),
            ("enrollment: enr_", "enrollment: usr_"), ("custom:voice", "custom:Voice"), ("custom:voice", "voice"),
            ("nonce: 00", "nonce: "), ("sha256:ab", "sha256:AB"), ("sha256:", "sha512:"), ("sha256:ab", "sha256:"),
            ("custom-data: ", "custom-data:"),
        ] {
            let altered = text.replacing(place, with: other, maxReplacements: 1)
            #expect(altered != text && AuthenticatorChange(altered) == nil, "\(place)")
        }
        #expect(AuthenticatorChange(text + "\n") == nil)
    }

    @Test("Data has a first line of its own, whatever stands in it, and comes back as it was")
    func data() throws {
        let deceptive = "Countersign receipt v1\r\nissuer: x \u{202E}\0"
        for data in ["", "correct horse", deceptive, String(repeating: "x", count: CustomData.maximumLength)] {
            let custom = try #require(CustomData(data))
            let lines = custom.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 2 && lines[0] == "Countersign custom data v1")
            #expect(CustomData(parsing: custom.text) == custom)
        }
        let long = String(repeating: "x", count: CustomData.maximumLength + 1)
        #expect(CustomData(long) == nil)
        let title = CustomData.title
        for text in [
            "", title, "\(title)\n", "\(title)\ndata:", "\(title)\ndata: AQ", "\(title)\ndata: AQID\n",
            "\(title)\ndata: AQID\nmore: 1", "Countersign custom data v2\ndata: AQID",
            "\(title)\ndata: /w==", "\(title)\ndata: \(Base64.encode(Array(long.utf8)))",
        ] {
            #expect(CustomData(parsing: text) == nil, "\(text.prefix(60))")
        }
    }
}
