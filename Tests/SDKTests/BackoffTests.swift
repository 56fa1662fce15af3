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

    @Test("After a wait that a server had held and that was cut off the pause is a short one")
    func heldAndCutOff() {
        var backoff = Backoff(failures: 7)
        backoff.fail(after: .milliseconds(500))
        #expect(backoff.pause == .milliseconds(250))
        for _ in 0..<20 { backoff.fail(after: .milliseconds(1500)) }
        #expect(backoff.pause == .milliseconds(250), "a server that restarts every second and a half")
        backoff.fail(after: .milliseconds(499))
        #expect(backoff.pause == .milliseconds(500))
    }
}
