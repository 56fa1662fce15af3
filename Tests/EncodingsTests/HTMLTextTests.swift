import Encodings
import Testing

@Suite("Text inside a page")
struct HTMLTextTests {
    @Test(
        "What could end a text or an attribute is escaped by bytes, also under a combining mark or a variation selector",
        arguments: ["", "\u{301}", "\u{338}", "\u{FE0F}", "\u{200D}", "\u{20DD}"])
    func marks(_ mark: String) {
        // Spec: HTML, *Serializing HTML fragments*.
        for (sign, escape) in [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")] {
            let escaped = HTMLText.escaped("a\(sign)\(mark)b")
            #expect(escaped.utf8.elementsEqual("a\(escape)\(mark)b".utf8), "\(escaped)")
        }
    }

    @Test("Everything else stays as it is, not even normalized")
    func others() {
        let text = "Gru\u{308}ße `=/ 大阪\n"
        #expect(HTMLText.escaped(text).utf8.elementsEqual(text.utf8))
    }
}
