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

    @Test("A near day has its name, another its date, and a year unless it is this one")
    func near() {
        func time(_ seconds: Int, _ language: PageLanguage = .english) -> PageTime {
            PageTime(epochSeconds: seconds, clock: .init(secondsFromUTC: 3600, zone: nil), language: language)
        }
        // 23:00 on 23 November in UTC is the next day in Berlin.
        let midnight = 1_795_474_800
        #expect(time(midnight).near(midnight, as: .object) == "today, 00:00")
        #expect(time(midnight - 1).near(midnight, as: .start) == "Yesterday, 23:59")
        #expect(time(midnight + 86_400).near(midnight, as: .adverb) == "tomorrow, 00:00")
        #expect(time(midnight + 172_800).near(midnight, as: .object) == "26 November, 00:00")
        #expect(time(midnight - 86_401).near(midnight, as: .adverb) == "on 22 November, 23:59")
        #expect(time(Samples.march).day(at: midnight, as: .start) == "4 March 2026")
        #expect(time(Samples.march, .german).day(at: midnight, as: .adverb) == "am 4. März 2026")
        #expect(time(midnight, .german).day(at: midnight, as: .start) == "Heute")
        #expect(time(0, .german).near(midnight, as: .object) == "1. Januar 1970, 01:00 Uhr")
    }

    @Test("RFC 3339 §5.6: dates in UTC agree with the calendar, over four centuries")
    func calendar() {
        let format = ISO8601DateFormatter()
        for seconds in stride(from: -3_000_000_000, through: 10_000_000_000, by: 9_999_991) {
            #expect(PageTime.inUTC(seconds) == format.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }
}
