import CountersignWire

/// For how long what is over is kept, as the operator decides.
public struct Retention: Hashable, Sendable {
    /// For how long one sort of thing is kept.
    public enum Span: Hashable, Sendable, CustomStringConvertible {
        /// For so many days.
        case days(Int64)
        /// As long as the deployment lives.
        case forever

        /// The most days that can be said: a hundred years.
        public static let maximum: Int64 = 36_500

        /// As it stands in a file of settings.
        public var description: String {
            switch self {
            case .days(let days): "\(days)"
            case .forever: "forever"
            }
        }

        /// What is older than this is not kept; nil where everything is.
        func oldest(at now: Timestamp) -> Timestamp? {
            switch self {
            case .days(let days): now.adding(seconds: -days * 86_400)
            case .forever: nil
            }
        }
    }

    /// The fewest days that challenges are kept: a device repeats an answer for as long, and is told the same.
    public static let fewestDaysOfChallenges: Int64 = 7

    /// Questions that have ended, counted from their end.
    public var challenges = Span.days(90)
    /// The signed answers, counted from when they were accepted.
    public var receipts = Span.forever
    /// The audit, counted from each event.
    public var audit = Span.forever

    /// What holds where nobody decides.
    public init() {}
}
