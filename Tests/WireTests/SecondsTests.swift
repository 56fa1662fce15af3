import CountersignWire
import Testing

@Suite("Lengths of time in whole seconds")
struct SecondsTests {
    @Test("Minutes, hours and days are their seconds")
    func units() {
        #expect(Seconds.minutes(3) == 180)
        #expect(Seconds.hours(2) == 7200)
        #expect(Seconds.days(1) == 86_400)
        #expect(2 * Seconds.days(1) - .hours(1) + 1 == 169_201)
        #expect(Seconds.minutes(1) < 61)
    }

    @Test(
        "The time between two moments is rounded up, so that whoever waits for it is not early",
        arguments: [(0, 0), (1, 1), (999, 1), (1000, 1), (1001, 2), (-1, 0), (-1000, -1), (-1001, -1)]
            as [(Int64, Int64)])
    func between(_ milliseconds: Int64, _ seconds: Int64) {
        let start = Timestamp(milliseconds: 1_795_169_702_500)
        let end = Timestamp(milliseconds: start.milliseconds + milliseconds)
        #expect(end - start == Seconds(seconds))
        #expect(start.adding(end - start) >= end)
    }
}
