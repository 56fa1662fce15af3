import Encodings
import Foundation
import TestSupport
import Testing

@Suite("countersign admin issuer-key")
struct IssuerKeyCommandTests {
    @Test("Keys are listed, a rotation is begun once and can be hastened, and refusals say what to do")
    func rotate() async throws {
        try await ServedTool.with { tool in
            let keys = try await tool.json("admin", "issuer-key", "list")["keys"]?.array ?? []
            #expect(keys.map { $0["use"]?.string } == ["openpgp-signing", "openpgp-encryption", "push"])
            let next = try await tool.json("admin", "issuer-key", "rotate", "push")
            #expect(next["state"] == "next")
            let environment = ["COUNTERSIGN_URL": tool.url, "COUNTERSIGN_TOKEN": tool.token]
            let again = try await Tool.run(["admin", "issuer-key", "rotate", "push"], environment: environment)
            #expect(again.status != 0)
            #expect(again.errors.contains("The next key waits for its time already"))
            #expect(again.errors.contains("issuer-key rotate --now"))
            let hastened = try await tool.json("admin", "issuer-key", "rotate", "push", "--now")
            #expect(hastened["id"] == next["id"])
            let list = try await Tool.run(["admin", "issuer-key"], environment: environment)
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(lines.last?.contains("  push  next  ") == true && lines.last?.contains("  is used from ") == true)
            let unknown = try await Tool.run(["admin", "issuer-key", "rotate", "token"], environment: environment)
            #expect(unknown.status != 0 && unknown.errors.contains("openpgp-signing, openpgp-encryption, push"))
        }
    }
}
