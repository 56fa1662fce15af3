import Synchronization
import Testing

@testable import CountersignCommand

@Suite("Design 8: what takes more than a second says what it does")
struct ProgressTests {
    private static func said(isShown: Bool, for duration: Duration) async throws -> [String] {
        let kept = Said()
        try await ProgressLine.during("Copying", isShown: isShown, write: { kept.add($0) }) {
            try await Task.sleep(for: duration)
        }
        return kept.all
    }

    private final class Said: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test("After a second it is said, after each further one anew, and at the end it is gone")
    func long() async throws {
        let said = try await Self.said(isShown: true, for: .milliseconds(2600))
        #expect(said.first == "\r\u{1B}[KCopying … 1 s")
        #expect(said.count >= 3 && said.last == "\r\u{1B}[K")
    }

    @Test("What is done within a second, and what nobody sees, is not mentioned")
    func short() async throws {
        // A busy machine may take longer, and say so.
        let begin = ContinuousClock.now
        let said = try await Self.said(isShown: true, for: .milliseconds(10))
        #expect(said.isEmpty || ContinuousClock.now - begin >= .seconds(1))
        #expect(try await Self.said(isShown: false, for: .milliseconds(1300)) == [])
    }
}
