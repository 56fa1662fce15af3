import Foundation
import Testing

/// What the fuzzer began with and what it found, every time.
@Suite("Every input of the fuzzer's corpus is read as it should, or refused by the parser's own error")
struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fuzz/Corpus").standardizedFileURL

    @Test(
        "A name that begins with refused- is refused, every other is read, and every property holds",
        arguments: Parser.all)
    func replay(parser: Parser) async throws {
        let folder = Self.corpus.appending(path: "\(parser)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.contains { $0.hasPrefix("refused-") })
        #expect(names.contains { !$0.hasPrefix("refused-") })
        for name in names {
            let input = Array(try Data(contentsOf: folder.appending(path: name)))
            let verdict = try await parser.check(input)
            #expect((verdict == .refused) == name.hasPrefix("refused-"), "\(name)")
        }
    }

    @Test("Every folder of the corpus belongs to a parser")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(folders.sorted() == Parser.all.map(\.description).sorted())
    }
}
