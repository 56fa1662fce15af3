import CountersignStorage
import Foundation
import Testing

@Suite("Reading what a program prints")
struct InterruptedReadTests {
    @Test("A signal that comes while nothing has been printed yet loses nothing and ends nothing")
    func signals() async throws {
        let pipe = Pipe()
        let (readers, announce) = AsyncStream.makeStream(of: pthread_t.self)
        let (results, finish) = AsyncStream.makeStream(of: Data.self)
        Thread.detachNewThread {
            // Without SA_RESTART, so that a read ends with EINTR.
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigaction(SIGUSR2, &action, nil)
            announce.yield(pthread_self())
            finish.yield(allData(of: pipe.fileHandleForReading))
        }
        var waiting = readers.makeAsyncIterator()
        let reader = try #require(await waiting.next())
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(5))
            pthread_kill(reader, SIGUSR2)
        }
        try pipe.fileHandleForWriting.write(contentsOf: Data("all of it".utf8))
        try pipe.fileHandleForWriting.close()
        var outcome = results.makeAsyncIterator()
        #expect(await outcome.next() == Data("all of it".utf8))
    }
}
