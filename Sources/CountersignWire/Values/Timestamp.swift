import Encodings
public import OpenPGP

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The milliseconds.
    public let milliseconds: Int64

    /// The moment this many milliseconds after 1970 began.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The moment this many seconds after 1970 began, or the last one that there is.
    public init(seconds: Int64) {
        milliseconds = Self.milliseconds(in: seconds)
    }

    private static func milliseconds(in seconds: Int64) -> Int64 {
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        return isOver ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }

    /// The seconds in OpenPGP's format.
    ///
    /// Spec: RFC 9580 §3.5.
    public var unixSeconds: UnixSeconds { UnixSeconds(clamping: seconds) }

    /// The moment without its fraction of a second.
    public var wholeSeconds: Timestamp { Timestamp(seconds: seconds) }

    /// A later moment, or the last one that there is.
    public func adding(seconds: Int64) -> Timestamp {
        let (sum, isOver) = milliseconds.addingReportingOverflow(Self.milliseconds(in: seconds))
        return Timestamp(milliseconds: isOver ? (seconds < 0 ? .min : .max) : sum)
    }

    /// Earlier moments first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// The moment in UTC with milliseconds: `2026-11-20T10:15:02.123Z`.
    ///
    /// Spec: RFC 3339 §5.6.
    public var description: String {
        text(fraction: milliseconds - seconds * 1000)
    }

    /// The moment in UTC to the second: `2026-11-20T10:15:02Z`.
    ///
    /// Spec: RFC 3339 §5.6.
    public var secondsDescription: String { text(fraction: nil) }

    private func text(fraction: Int64?) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86399) / 86400
        let date = CivilDate(daysSince1970: days)
        let second = seconds - days * 86400
        var text: [UInt8] = []
        text.reserveCapacity(24)
        Self.write(date.year, 4, to: &text)
        Self.write(date.month, 2, after: "-", to: &text)
        Self.write(date.day, 2, after: "-", to: &text)
        Self.write(second / 3600, 2, after: "T", to: &text)
        Self.write(second / 60 % 60, 2, after: ":", to: &text)
        Self.write(second % 60, 2, after: ":", to: &text)
        if let fraction { Self.write(fraction, 3, after: ".", to: &text) }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads one of the two formats that this type writes; years 0000 to 9999.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z") else { return nil }
        let separators: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
        guard separators.allSatisfy({ bytes[$0.0] == $0.1.asciiValue }),
            let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]), hour < 24,
            let minute = Self.number(bytes[14..<16]), minute < 60,
            let second = Self.number(bytes[17..<19]), second < 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count == 24 {
            guard bytes[19] == UInt8(ascii: "."), let value = Self.number(bytes[20..<23]) else { return nil }
            fraction = value
        }
        let date = CivilDate(year: year, month: month, day: day)
        let days = date.daysSince1970
        // A date that does not exist would become another date.
        guard CivilDate(daysSince1970: days) == date else { return nil }
        milliseconds = ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// Writes a number with at least so many digits, and before it a separator.
    private static func write(
        _ number: Int64, _ count: Int, after separator: Unicode.Scalar? = nil, to text: inout [UInt8]
    ) {
        if let separator { text.append(UInt8(ascii: separator)) }
        let digits = String(number).utf8
        text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, count - digits.count)))
        text.append(contentsOf: digits)
    }
}
