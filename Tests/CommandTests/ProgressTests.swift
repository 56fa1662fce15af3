import Countersign
import Foundation
import Synchronization
import Testing

@testable import CountersignCommand

@Suite("What takes more than a second says what it does")
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

    /// A server that takes its time.
    private struct SlowTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await Task.sleep(for: .milliseconds(1400))
            return TransportResponse(status: 204, headers: [:], body: [])
        }
    }

    @Test("The terminal phone says for whom it waits, but where it asked to be kept waiting")
    func device() async throws {
        for (query, isSaid) in [("", true), ("?wait=60", false)] {
            let kept = Said()
            let transport = TellingTransport(sender: SlowTransport(), isShown: true) { kept.add($0) }
            let url = try #require(URL(string: "https://login.example.com/v1/enrollments/self/challenges\(query)"))
            let response = try await transport.send(TransportRequest(method: "GET", url: url, timeout: 60))
            #expect(response.status == 204)
            #expect(kept.all.first == (isSaid ? "\r\u{1B}[KWaiting for login.example.com … 1 s" : nil))
        }
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
