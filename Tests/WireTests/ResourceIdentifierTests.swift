import CountersignWire
import Testing

// Spec: RFC 3986 §4.3, §6.2.1.
@Suite("The names of APIs")
struct ResourceIdentifierTests {
    @Test("An absolute URI without a fragment", arguments: ["https://orders.example/", "urn:example:a", "a+b-c.d:K;"])
    func accepted(_ text: String) {
        #expect(ResourceIdentifier(text)?.description == text)
    }

    @Test(
        "Nothing else, nor characters that Unicode holds to be the same as theirs",
        arguments: [
            "", "orders", "Urn:a", "urn:", "urn:a#b", "urn:a b", "urn:ä", "urn:e\u{301}", "urn:\u{212A}",
            "urn:a\u{37E}", "urn:a\r\n", "\u{212A}:a", "https://orders.example/\u{1FEF}",
        ])
    func refused(_ text: String) {
        #expect(ResourceIdentifier(text) == nil)
    }
}
