import Encodings

/// The kind of an id.
///
/// Each kind has a prefix, so that an id of one kind cannot pass for another.
public protocol IDKind: Sendable {
    /// The letters before the underscore.
    static var prefix: String { get }
}

/// A typed, unguessable id: a prefix and 26 characters of Crockford base 32, such as `chl_01k3…`.
///
/// It encodes 16 bytes: 6 bytes of milliseconds since 1970, which keep rows made together near each other in an index,
/// and 10 random bytes.
public struct ID<Kind: IDKind>: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// An id made at a time.
    ///
    /// - Parameters:
    ///   - time: when.
    ///   - random: 10 random bytes.
    public init(at time: Timestamp, random: [UInt8]) {
        precondition(random.count == 10)
        high = UInt64(truncatingIfNeeded: time.milliseconds) << 16 | IDText.number(random.prefix(2))
        low = IDText.number(random.suffix(8))
    }

    /// When the id was made.
    public var time: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }

    /// The 16 bytes as a UUID, for services that require one.
    ///
    /// Spec: RFC 9562 §4.
    public var uuid: String {
        let digits = Hex.encode(
            [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
        var parts: [Substring] = []
        var rest = Substring(digits)
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }

    /// Reads an id that was written as a UUID, in upper or lower case, or nil.
    ///
    /// Spec: RFC 9562 §4.
    package init?(uuid text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], let bytes = Hex.decode(parts.joined().lowercased()) else {
            return nil
        }
        high = IDText.number(bytes.prefix(8))
        low = IDText.number(bytes.suffix(8))
    }

    /// Reads an id; nil unless the text is the only spelling of an id of this kind.
    public init?(_ text: some StringProtocol) {
        guard let (high, low) = IDText.read(Array(text.utf8), prefix: Kind.prefix) else { return nil }
        self.high = high
        self.low = low
    }
}

/// Reads ids of every kind, outside the generic type, so that the work on bytes is compiled only once.
private enum IDText {
    static func read(_ text: [UInt8], prefix: String) -> (high: UInt64, low: UInt64)? {
        let start = prefix.utf8.count + 1
        guard text.count > start, text[..<start].elementsEqual((prefix + "_").utf8),
            let bytes = CrockfordBase32.decode(utf8: text[start...])
        else { return nil }
        return (number(bytes.prefix(8)), number(bytes.suffix(8)))
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ID: CustomStringConvertible {
    /// The text of the id.
    public var description: String {
        CrockfordBase32.encode(high, low, after: Kind.prefix + "_")
    }
}

extension ID: Comparable {
    /// Older ids first.
    public static func < (left: ID, right: ID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The kind of ``ChallengeID``.
public enum ChallengeIDKind: IDKind {
    /// The letters `chl`.
    public static let prefix = "chl"
}

/// The kind of ``EnrollmentID``.
public enum EnrollmentIDKind: IDKind {
    /// The letters `enr`.
    public static let prefix = "enr"
}

/// The kind of ``UserID``.
public enum UserIDKind: IDKind {
    /// The letters `usr`.
    public static let prefix = "usr"
}

/// The kind of ``ClientID``.
public enum ClientIDKind: IDKind {
    /// The letters `cli`.
    public static let prefix = "cli"
}

/// The kind of ``EventID``.
public enum EventIDKind: IDKind {
    /// The letters `evt`.
    public static let prefix = "evt"
}

/// The kind of ``IssuerKeyID``.
public enum IssuerKeyIDKind: IDKind {
    /// The letters `key`.
    public static let prefix = "key"
}

/// Names a challenge.
public typealias ChallengeID = ID<ChallengeIDKind>
/// Names an enrollment.
public typealias EnrollmentID = ID<EnrollmentIDKind>
/// Names a user.
public typealias UserID = ID<UserIDKind>
/// Names a client.
public typealias ClientID = ID<ClientIDKind>
/// Names an event: an entry of the audit, or a message in the outbox.
public typealias EventID = ID<EventIDKind>
/// Names one of the issuer's keys.
public typealias IssuerKeyID = ID<IssuerKeyIDKind>
