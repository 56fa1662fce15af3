package import Encodings

/// A length of time in whole seconds.
package struct Seconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number of seconds.
    package let value: Int64

    package init(_ value: Int64) {
        self.value = value
    }

    package init(integerLiteral value: Int64) {
        self.value = value
    }

    package static func minutes(_ count: Int64) -> Seconds { Seconds(60 * count) }

    package static func hours(_ count: Int64) -> Seconds { .minutes(60 * count) }

    package static func days(_ count: Int64) -> Seconds { .hours(24 * count) }

    package var description: String { "\(value)" }

    package static func < (left: Seconds, right: Seconds) -> Bool { left.value < right.value }

    package static func + (left: Seconds, right: Seconds) -> Seconds { Seconds(left.value + right.value) }

    package static func - (left: Seconds, right: Seconds) -> Seconds { Seconds(left.value - right.value) }

    package static func * (factor: Int64, seconds: Seconds) -> Seconds { Seconds(factor * seconds.value) }

    package static prefix func - (seconds: Seconds) -> Seconds { Seconds(-seconds.value) }
}

extension Timestamp {
    /// A later moment.
    package func adding(_ length: Seconds) -> Timestamp { adding(seconds: length.value) }

    /// The time from one moment to another; a part of a second counts as a whole one.
    package static func - (later: Timestamp, earlier: Timestamp) -> Seconds {
        Seconds(-Timestamp(milliseconds: earlier.milliseconds - later.milliseconds).seconds)
    }
}

extension JSONMembers {
    /// A whole number of seconds within bounds, or nil when absent.
    package mutating func optionalSeconds(
        _ name: String, in range: ClosedRange<Seconds>
    ) throws(JSONShapeError) -> Seconds? {
        try optionalInteger(name, in: range.lowerBound.value...range.upperBound.value).map { Seconds($0) }
    }
}
