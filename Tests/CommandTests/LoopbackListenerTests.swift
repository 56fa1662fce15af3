import Foundation
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("Where the browser comes back from a sign-in in the terminal", .timeLimit(.minutes(15)))
struct LoopbackListenerTests {
    // Spec: RFC 6749 §10.12.
    @Test("What another page sends ends no sign-in; the answer with its state does")
    func forged() async throws {
        let listener = LoopbackListener()
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await listener.run { ready.yield($0) } }
        defer { running.cancel() }
        var opened = ports.makeAsyncIterator()
        let port = try #require(await opened.next())
        let queries = ["", "?code=x", "?code=x&state=other", "?code=x&state=mine&state=other", "?code=y&state=mine"]
        let result = try await RunningProgram.run(
            try #require(Program.path(of: "curl")),
            ["-s"] + queries.map { "http://127.0.0.1:\(port)/callback\($0)" })
        #expect(result.status == 0, "\(result)")
        let answer = try await listener.answer(to: "mine", within: .seconds(600))
        #expect(answer == "/callback?code=y&state=mine")
    }

    @Test("Where only others come back, nobody has in time")
    func nobody() async throws {
        #expect(try await LoopbackListener().answer(to: "mine", within: .milliseconds(50)) == nil)
    }
}
