import CountersignWire
import Encodings
import Logging
import Testing

@testable import CountersignCommand

@Suite("An event is one line of the log, whatever is in it")
struct LogFormatTests {
    private let time = Timestamp(milliseconds: 1_700_000_000_123)

    @Test("As text: time, level, message, and what belongs to it by name")
    func text() {
        #expect(
            LogFormat.text.line(.notice, "refused", [("code", "not_found"), ("ms", "0.5")], at: time)
                == "\(time) notice refused code=not_found ms=0.5")
    }

    @Test(
        "As text: a value cannot end its line, look like another name, or steer a terminal",
        arguments: [
            ("", "\"\""), ("a b", "\"a b\""), ("a=b", "\"a=b\""), ("a\"b", "\"a\\\"b\""), ("a\\ b", "\"a\\\\ b\""),
            ("a\nfault error=x", "\"a\\u{a}fault error=x\""), ("\u{1B}[31m", "\"\\u{1b}[31m\""),
            ("a\u{2028}b", "\"a\\u{2028}b\""), ("a\u{202E}b", "\"a\\u{202e}b\""), ("Grüße", "Grüße"),
        ])
    func hostile(_ value: String, _ written: String) {
        #expect(LogFormat.text.line(.info, "request", [("x", value)], at: time) == "\(time) info request x=\(written)")
    }

    @Test(
        "As JSON: an object on one line",
        arguments: ["a b", "a\nb", "\"", "\u{1B}[31m", "a\u{2028}b", "a\u{9B}31m", "\u{202E}"])
    func json(_ value: String) throws {
        let line = LogFormat.json.line(.error, "fault", [("error", value)], at: time)
        #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(
            try JSONValue(parsing: Array(line.utf8)) == [
                "time": .string("\(time)"), "level": "error", "message": "fault", "error": .string(value),
            ])
    }
}
