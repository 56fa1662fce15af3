import CountersignWire

/// How long the operator keeps data that are no longer needed.
package struct Retention: Hashable, Sendable {
    /// How long one kind of data is kept.
    package enum Span: Hashable, Sendable, CustomStringConvertible {
        /// For this number of days.
        case days(Int64)
        /// For ever.
        case forever

        /// The greatest number of days: a hundred years.
        package static let maximum: Int64 = 36_500

        /// The form in a settings file.
        package var description: String {
            switch self {
            case .days(let days): "\(days)"
            case .forever: "forever"
            }
        }

        /// The time before which data are deleted; nil if everything is kept.
        func oldest(at now: Timestamp) -> Timestamp? {
            switch self {
            case .days(let days): now.adding(-.days(days))
            case .forever: nil
            }
        }
    }

    /// The fewest days that challenges are kept: a device may repeat an answer for this long, and gets the same reply.
    package static let fewestDaysOfChallenges: Int64 = 7

    /// Challenges that have ended, counted from their end.
    package var challenges = Span.days(90)
    /// The signed answers, counted from when they were accepted.
    package var receipts = Span.forever
    /// The audit, counted from each event.
    package var audit = Span.forever

    /// The default.
    package init() {}
}
