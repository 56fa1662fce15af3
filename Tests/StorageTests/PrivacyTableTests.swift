import Foundation
import StorageTestSupport
import Testing

/// `docs/security/privacy.md` says of each column what it holds and what becomes of it: none is forgotten when one is
/// added.
@Suite("Every column of the database stands in the table of what is kept")
struct PrivacyTableTests {
    /// The columns that the page names, by table, as in "| `table` | `one`, `two` | …", under a heading.
    private func documented(under heading: String) throws -> [String: [String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/security/privacy.md"), encoding: .utf8)
        let sections = page.split(separator: "\n## ").filter { $0.hasPrefix(heading) }
        #expect(sections.count == 1, "\(heading)")
        var tables: [String: [String]] = [:]
        for line in (sections.first ?? "").split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            let name = String(cells[1].trimmingCharacters(in: .whitespaces).dropFirst().dropLast())
            tables[name, default: []] += cells[2].matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
            #expect(cells.count == 6 && !cells[3].isEmpty && !cells[4].isEmpty, "\(line)")
        }
        return tables
    }

    @Test("Each column stands there once, and nothing that does not exist")
    func complete() async throws {
        let world = try await World()
        let actual = try await world.columns()
        var page = try documented(under: "What is kept")
        #expect(page.count > 20)
        if Engine.chosen == .postgresql {
            page.merge(try documented(under: "Also on PostgreSQL")) { $0 + $1 }
        }
        for (table, columns) in page {
            #expect(columns.count == Set(columns).count, "\(table) names a column twice")
            for column in columns where actual[table]?.contains(column) != true {
                Issue.record("docs/security/privacy.md names \(table).\(column), which is not there")
            }
        }
        for (table, columns) in actual {
            for column in columns where page[table]?.contains(column) != true {
                Issue.record(
                    "\(table).\(column) is missing in docs/security/privacy.md: say what it holds and what becomes of it"
                )
            }
        }
    }
}
