import Encodings
import Foundation
import TestSupport
import Testing

@Suite("What the tool prints steers no terminal")
struct TerminalTests {
    private static let hostile = "x\u{1B}[31m\u{9B}2J\u{202E}\u{200B}"
    private static let escaped = "x\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{200b}"

    @Test("Plain output and errors escape what is not plain text; --json escapes it as JSON does")
    func output() async throws {
        let plain = try await Tool.run(["config", "check", "--data", Self.hostile])
        #expect(plain.status == 0, "\(plain.errors)")
        #expect(plain.output.contains(Self.escaped))
        let json = try await Tool.run(["config", "check", "--data", Self.hostile, "--json"])
        #expect(json.output.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        #expect(try JSONValue(parsing: Array(json.output.utf8)).text.contains("\u{202E}"))
        let error = try await Tool.run(["nonsense-\(Self.hostile)"])
        #expect(error.errors.contains(Self.escaped))
        for text in [plain.output, json.output, error.errors] {
            let rest = text.unicodeScalars.filter { $0 != "\n" }
            #expect(!rest.contains { [.control, .format].contains($0.properties.generalCategory) })
        }
    }
}
