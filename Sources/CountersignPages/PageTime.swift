import Encodings

/// The clock by which the pages name times of day.
package struct PageClock: Hashable, Sendable {
    /// The difference to UTC in seconds, positive to the east.
    package var secondsFromUTC: Int
    /// What follows each time of day, such as "UTC"; nil where the readers share one zone.
    package var zone: String?

    /// Creates a clock.
    package init(secondsFromUTC: Int, zone: String?) {
        self.secondsFromUTC = secondsFromUTC
        self.zone = zone
    }

    /// UTC, named after each time.
    package static let utc = PageClock(secondsFromUTC: 0, zone: "UTC")
}

/// A moment in the words of the pages.
struct PageTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    let epochSeconds: Int
    let clock: PageClock
    let language: PageLanguage

    /// The time of day: "10:15", "10:15 Uhr".
    var ofDay: String {
        let minutes = Self.secondOfDay(epochSeconds + clock.secondsFromUTC) / 60
        let digits = "\(Self.twoDigits(minutes / 60)):\(Self.twoDigits(minutes % 60))"
        let zone = clock.zone.map { " \($0)" } ?? ""
        return language == .german ? "\(digits) Uhr\(zone)" : digits + zone
    }

    /// The time of day and the date: "10:15, 23 November 2026".
    var withDate: String {
        let date = Self.date(epochSeconds + clock.secondsFromUTC)
        let month = PageText.of(language).months[Int(date.month) - 1]
        return "\(ofDay), \(date.day)\(language == .german ? "." : "") \(month) \(date.year)"
    }

    /// The moment in UTC: "2026-11-23T10:15:02Z".
    ///
    /// Spec: RFC 3339 §5.6.
    static func inUTC(_ epochSeconds: Int) -> String {
        let date = date(epochSeconds)
        let second = secondOfDay(epochSeconds)
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(date.year)-\(twoDigits(date.month))-\(twoDigits(date.day))T\(time)Z"
    }

    /// The time that is left: "1:42".
    static func left(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        return "\(seconds / 60):\(twoDigits(seconds % 60))"
    }

    private static func twoDigits(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func date(_ epochSeconds: Int) -> CivilDate {
        CivilDate(daysSince1970: Int64((epochSeconds - secondOfDay(epochSeconds)) / 86_400))
    }

    private static func secondOfDay(_ epochSeconds: Int) -> Int {
        let remainder = epochSeconds % 86_400
        return remainder < 0 ? remainder + 86_400 : remainder
    }
}
