import Mustache
import Testing

@testable import CountersignPages

@Suite("Values in the pages")
struct EscapingTests {
    @Test(
        "A quotation mark under a combining mark or a variation selector ends no attribute",
        arguments: ["", "\u{301}", "\u{338}", "\u{FE0F}", "\u{200D}", "\u{20DD}"])
    func marks(_ mark: String) throws {
        // Spec: HTML, *Serializing HTML fragments*.
        let escapes = [
            ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"), ("`", "&#96;"),
        ]
        let template = try MustacheTemplate(
            string: HTMLContent.pragma + "<input value=\"{{x}}\" />{{#list}}{{.}}{{/list}}")
        for (sign, escape) in escapes {
            let text = "a\(sign)\(mark)b"
            #expect(HTMLContent().escapeText(text).utf8.elementsEqual("a\(escape)\(mark)b".utf8))
            let page = template.render(["x": text, "list": [text]] as [String: Any])
            let expected = "<input value=\"a\(escape)\(mark)b\" />a\(escape)\(mark)b"
            #expect(page.utf8.elementsEqual(expected.utf8), "\(page)")
        }
    }

    @Test("A control character becomes a sign that a page may contain")
    func controls() {
        #expect(HTMLContent().escapeText("a\u{0}b\u{1B}c\u{7F}\t\n") == "a\u{FFFD}b\u{FFFD}c\u{FFFD}\t\n")
    }

    @Test("Every template escapes every value, and quotes every attribute")
    func templates() {
        #expect(PageTemplate.all.count == 31)
        for template in PageTemplate.all {
            let text = template.text
            for refused in ["{{{", "{{&", "{{>", "{{<", "{{=", "{{%"] {
                let isThere = text.contains(refused)
                #expect(!isThere, "\(template.name): \(refused)")
            }
            // With a letter for each value and word, every attribute stands in quotation marks.
            let rest = text.replacing(/\{\{[#^\/][^}]*\}\}/, with: "").replacing(
                /\{\{[^}]*\}\}|\[\[[^\]]*\]\]/, with: "v")
            for tag in rest.matches(of: /<[a-z][^>]*>/) {
                let bare = tag.output.replacing(/"[^"]*"/, with: "")
                #expect(
                    bare.wholeMatch(of: /<[a-z0-9]+(\s+[A-Za-z0-9-]+=)*\s*\/?>/) != nil,
                    "\(template.name): \(tag.output)")
            }
        }
    }

    @Test("No value stands where a script or a style would read it")
    func places() {
        for template in PageTemplate.all {
            for match in template.text.matches(of: /([a-z-]+)="[^"]*\{\{[#^\/]?([a-zA-Z]+)/) {
                #expect(!match.output.1.hasPrefix("on") && match.output.1 != "style" && match.output.1 != "srcdoc")
            }
        }
    }
}
