import Testing

@testable import Countersign

@Suite("How long the SDK waits before it tries again")
struct BackoffTests {
    @Test("A quarter of a second, twice as long each time, half a minute at most")
    func grows() {
        var backoff = Backoff()
        #expect(backoff.pause == .zero)
        var pauses: [Duration] = []
        for _ in 0..<9 {
            backoff.fail(after: .milliseconds(1))
            pauses.append(backoff.pause)
        }
        #expect(
            pauses
                == [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map { Duration.milliseconds($0) })
    }

    @Test("A wait that a server had held for longer than the last pause, and that was cut off, begins with a short one")
    func heldAndCutOff() {
        var backoff = Backoff(failures: 7)
        backoff.fail(after: .seconds(17))
        #expect(backoff.pause == .milliseconds(250))
        for _ in 0..<20 { backoff.fail(after: .milliseconds(1500)) }
        #expect(backoff.pause == .milliseconds(250), "a server that restarts every second and a half")
        backoff.fail(after: .milliseconds(100))
        #expect(backoff.pause == .milliseconds(500))
    }
}
