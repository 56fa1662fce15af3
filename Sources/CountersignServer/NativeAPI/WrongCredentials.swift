import CountersignWire
import Synchronization

/// Counts wrong credentials by the client they name and by where they come from.
///
/// Only who sends a wrong secret meets the limit: a right one is let in however many wrong ones came before, so nobody
/// can lock a client out. Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
final class WrongCredentials: Sendable {
    /// How long wrong credentials count, in seconds.
    static let window: Int64 = 60
    /// How many may name one client within the window, whether or not there is such a client.
    static let maximumForClient = 20
    /// How many may come from one address within the window.
    static let maximumFromAddress = 100
    /// How many clients and addresses are counted each for themselves; the others are counted as one.
    static let maximumKeys = 10_000

    private enum Key: Hashable {
        case client(String)
        case address([UInt8])
        case others
    }

    private struct Count {
        var number = 0
        let end: Timestamp
    }

    private let counts = Mutex<[Key: Count]>([:])

    /// Notes a wrong credential.
    ///
    /// - Parameters:
    ///   - client: the id it named, if that is an id.
    ///   - address: where it came from, if that is known.
    ///   - now: the present.
    /// - Returns: when there were too many, after how many seconds to come again.
    func note(client: String?, address: [UInt8]?, at now: Timestamp) -> Int64? {
        let keys: [(Key, Int)] =
            (client.map { [(.client($0), Self.maximumForClient)] } ?? [])
            + (address.map { [(.address($0), Self.maximumFromAddress)] } ?? [])
        return counts.withLock { counts in
            keys.compactMap { Self.note($0, limit: $1, at: now, in: &counts) }.max()
        }
    }

    private static func note(
        _ key: Key, limit: Int, at now: Timestamp, in counts: inout [Key: Count]
    ) -> Int64? {
        if counts.count >= maximumKeys { counts = counts.filter { isOpen($0.value, now) } }
        let key = counts.count < maximumKeys || counts[key] != nil ? key : .others
        let known = counts[key].flatMap { isOpen($0, now) ? $0 : nil }
        var count = known ?? Count(end: now.adding(seconds: window))
        count.number += 1
        counts[key] = count
        return count.number > limit ? max(1, (count.end.milliseconds - now.milliseconds + 999) / 1000) : nil
    }

    /// Whether a window has not ended; one that would end too late is of a clock that was set back since.
    private static func isOpen(_ count: Count, _ now: Timestamp) -> Bool {
        now < count.end && count.end <= now.adding(seconds: window)
    }
}
