import Testing

@testable import Countersign

// Spec: RFC 8628 §3.2.
@Suite("How often a device asks whether it was approved elsewhere")
struct PollPaceTests {
    @Test("Five seconds where the issuer says nothing; once a second at most, and once an hour at least")
    func intervals() {
        let cases: [(Int64?, Int64)] = [
            (nil, 5), (1, 1), (30, 30), (0, 1), (-5, 1), (Int64.min, 1), (Int64.max, 3600),
        ]
        for (said, seconds) in cases {
            var pace = PollPace(interval: said)
            let pause = pace.pause(afterPollOf: .zero)
            #expect(pause == .milliseconds(seconds * 1000 + 100))
        }
    }

    @Test("The time that a request was held counts, and after a long one the next follows at once")
    func held() {
        var pace = PollPace(interval: 5)
        let pauses = [2, 5, 20].map { pace.pause(afterPollOf: Duration.seconds($0)) }
        #expect(pauses == [.milliseconds(3100), .zero, .zero])
    }

    @Test("RFC 8628 §3.5: each slow_down makes all later pauses five seconds longer")
    func tooFast() {
        var pace = PollPace(interval: 5)
        let pauses = [
            pace.pauseAfterTooFast(), pace.pauseAfterTooFast(), pace.pause(afterPollOf: .seconds(6)),
            pace.pauseAfterFailure(), pace.pauseAfterTooFast(retryAfter: .seconds(60)),
            pace.pauseAfterTooFast(retryAfter: .seconds(1)),
        ]
        #expect(pauses == [10_100, 15_100, 9100, 15_350, 60_000, 25_100].map { Duration.milliseconds($0) })
    }

    @Test("RFC 8628 §3.5: after failures the device asks less often than before, each time less; an answer ends that")
    func failures() {
        var pace = PollPace(interval: 5)
        let pauses = (0..<9).map { _ in pace.pauseAfterFailure() }
        let longer = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
        #expect(pauses == longer.map { Duration.milliseconds(5100 + $0) })
        let told = [
            pace.pauseAfterFailure(retryAfter: .seconds(600)), pace.pause(afterPollOf: .zero),
            pace.pauseAfterFailure(retryAfter: .seconds(1)),
        ]
        #expect(told == [600_000, 5100, 5350].map { Duration.milliseconds($0) })
    }
}
