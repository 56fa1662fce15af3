import CountersignWire
import Foundation
import Synchronization

/// The current time as a value of the header field `Date`, formatted once a second.
///
/// Spec: RFC 9110 §6.6.1.
final class DateField: Sendable {
    private let last = Mutex((second: Int64.min, text: ""))

    func value(at now: Timestamp) -> String {
        let second = now.milliseconds / 1000
        return last.withLock { last in
            if last.second != second {
                last = (second, Self.text(of: second))
            }
            return last.text
        }
    }

    private static func text(of second: Int64) -> String {
        var (time, parts) = (time_t(second), tm())
        gmtime_r(&time, &parts)
        // "Sun, 06 Nov 1994 08:49:37 GMT" takes 29 bytes and a zero. The program never sets a locale, so names are
        // English.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 30) { buffer in
            guard let start = buffer.baseAddress, strftime(start, 30, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0 else {
                return ""
            }
            return String(cString: start)
        }
    }
}
