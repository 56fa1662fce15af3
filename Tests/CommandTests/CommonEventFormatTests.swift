import Encodings
import Foundation
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("The Common Event Format: a value cannot forge a field, a line or another event")
struct CommonEventFormatTests {
    @Test(
        "Whatever stands in a value is escaped",
        arguments: [
            ("plain", "plain"), ("a=b", #"a\=b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("a\r\nb", #"a\r\nb"#),
            ("x suser=root", #"x suser\=root"#), ("a|b", "a|b"), ("\u{1b}[2J", #"\\u{1b}[2J"#),
            ("a\u{202e}b", #"a\\u{202e}b"#), ("a\u{2028}b", #"a\\u{2028}b"#), ("=\u{301}", "\\=\u{301}"),
        ])
    func value(_ text: String, _ escaped: String) {
        #expect(CommonEventFormat.value(text) == escaped)
    }

    @Test("In the header bars are escaped", arguments: [("a|b", #"a\|b"#), (#"\|"#, #"\\\|"#), ("a\nb", #"a\nb"#)])
    func header(_ text: String, _ escaped: String) {
        #expect(CommonEventFormat.header(text) == escaped)
    }

    @Test("A device's name with everything in it stays in one field of one line")
    func forged() throws {
        let name = "x\nCEF:0|Evil|a|1|b|c|9|cs1=forged \\"
        let event: JSONValue = [
            "id": "evt_1", "at": "2026-11-23T10:15:00.000Z", "kind": "enrollment.created", "user": "usr_1",
            "client": "cli_1", "detail": ["device": ["name": .string(name)], "reason": .string("a=b|c\nd")],
        ]
        let line = CommonEventFormat.line(of: event)
        #expect(!line.contains("\n"))
        #expect(line.hasPrefix("CEF:0|Countersign|countersign|"))
        #expect(line.contains("|enrollment.created|enrollment created|3|rt=1795428900000 externalId=evt_1 duid=usr_1 "))
        // Of equals signs without a backslash before them there is one for each field, and none more.
        let fields = line.matches(of: #/(?:^| |\|)([A-Za-z0-9]+)=/#).map { String($0.output.1) }
        #expect(fields == ["rt", "externalId", "duid", "cs1Label", "cs1", "reason", "msg"])
        #expect(line.contains(#"reason=a\=b|c\nd msg="#))
    }
}
