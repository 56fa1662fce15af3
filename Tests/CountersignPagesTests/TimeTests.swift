import Foundation
import Testing

@testable import CountersignPages

@Suite("Times in the pages")
struct TimeTests {
    @Test("Times of day follow the clock and the language")
    func ofDay() {
        let berlin = PageClock(secondsFromUTC: 3600, zone: nil)
        func time(_ clock: PageClock, _ language: PageLanguage, _ seconds: Int = Samples.now) -> PageTime {
            PageTime(epochSeconds: seconds, clock: clock, language: language)
        }
        #expect(time(berlin, .english).withDate == "11:15, 23 November 2026")
        #expect(time(berlin, .german).withDate == "11:15 Uhr, 23. November 2026")
        #expect(time(.utc, .english).withDate == "10:15 UTC, 23 November 2026")
        #expect(time(.utc, .german, -1).withDate == "23:59 Uhr UTC, 31. Dezember 1969")
        #expect(time(.init(secondsFromUTC: -39_600, zone: nil), .english).withDate == "23:15, 22 November 2026")
        #expect(PageTime.left(102) == "1:42" && PageTime.left(-1) == "0:00")
    }

    @Test("RFC 3339 §5.6: dates in UTC agree with the calendar, over four centuries")
    func calendar() {
        let format = ISO8601DateFormatter()
        for seconds in stride(from: -3_000_000_000, through: 10_000_000_000, by: 9_999_991) {
            #expect(PageTime.inUTC(seconds) == format.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }
}
