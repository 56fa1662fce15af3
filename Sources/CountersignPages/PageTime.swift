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
        "\(ofDay), \(dayAndMonth(of: Self.date(epochSeconds + clock.secondsFromUTC), hasYear: true))"
    }

    /// How a day stands in what is said.
    enum Role {
        /// After a word that asks for it: "since today", "since 4 March 2026".
        case object
        /// At the start: "Today", "4 March 2026".
        case start
        /// In a sentence: "was enrolled today", "was enrolled on 4 March 2026".
        case adverb
    }

    /// The day, by its name where it is near: "today", "4 March 2026".
    func day(at now: Int, as role: Role) -> String { day(at: now, as: role, hasYear: true) }

    /// The day, with its year unless that is this one, and the time of day: "today, 08:41", "24 November, 09:30".
    func near(_ now: Int, as role: Role) -> String {
        let year = Self.date(epochSeconds + clock.secondsFromUTC).year
        let isThisYear = year == Self.date(now + clock.secondsFromUTC).year
        return "\(day(at: now, as: role, hasYear: !isThisYear)), \(ofDay)"
    }

    private func day(at now: Int, as role: Role, hasYear: Bool) -> String {
        let local = epochSeconds + clock.secondsFromUTC
        let words = PageText.of(language).days
        let name: String? =
            switch Self.dayNumber(local) - Self.dayNumber(now + clock.secondsFromUTC) {
            case -1: words.yesterday
            case 0: words.today
            case 1: words.tomorrow
            default: nil
            }
        if let name { return role == .start ? name.prefix(1).uppercased() + name.dropFirst() : name }
        let day = dayAndMonth(of: Self.date(local), hasYear: hasYear)
        return role == .adverb ? words.on + day : day
    }

    private func dayAndMonth(of date: CivilDate, hasYear: Bool) -> String {
        let month = PageText.of(language).months[Int(date.month) - 1]
        return "\(date.day)\(language == .german ? "." : "") \(month)" + (hasYear ? " \(date.year)" : "")
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
        CivilDate(daysSince1970: Int64(dayNumber(epochSeconds)))
    }

    private static func dayNumber(_ epochSeconds: Int) -> Int { (epochSeconds - secondOfDay(epochSeconds)) / 86_400 }

    private static func secondOfDay(_ epochSeconds: Int) -> Int {
        let remainder = epochSeconds % 86_400
        return remainder < 0 ? remainder + 86_400 : remainder
    }
}
