public import Encodings

/// Why a PIN cannot be set.
public enum PINViolation: String, Error, CaseIterable, Sendable {
    /// The PIN is too short or too long.
    case length
    /// One digit occurs in it too often.
    case repeats
    /// Its digits follow one another by the same step, as in 123456 or 864208.
    case sequence
    /// It is one of those that too many people choose.
    case blocked
}

/// What happens when a wrong PIN was typed too often.
public enum PINLimitAction: String, CaseIterable, Sendable {
    /// The PIN is locked; the device can still deny, and approve challenges that need no PIN.
    case lock
    /// The enrollment is removed.
    case remove
}

/// The rules for PINs, which a client sets for its devices.
///
/// The device checks a new PIN, because nobody else ever sees it; the server counts wrong ones. Spec:
/// docs/protocol/methods.md, *Rules for PINs*; NIST SP 800-63B-4 §3.2.10.
public struct PINPolicy: Hashable, Sendable {
    /// The bounds of every policy.
    private enum Bounds {
        static let length: ClosedRange<Int64> = 4...32
        static let attempts: ClosedRange<Int64> = 1...10
        static let cost: ClosedRange<Int64> = 15...18
        static let blocked = 1000
    }

    /// The policy of a client that has set none.
    public static let standard = PINPolicy()

    /// The fewest digits.
    public private(set) var minimumLength = 5
    /// The most digits.
    public private(set) var maximumLength = 32
    /// How often one digit may occur in a PIN.
    public private(set) var maximumRepeats = 3
    /// Whether all digits may follow one another by the same step of one or two.
    public private(set) var allowsSequences = false
    /// PINs that may not be set.
    public private(set) var blocked: [String] = []
    /// After how many wrong PINs in a row ``limitAction`` follows.
    public private(set) var attempts = 5
    /// What happens at the limit.
    public private(set) var limitAction = PINLimitAction.lock
    /// The binary logarithm of scrypt's cost N; its block size is 8 and its parallelism 1.
    ///
    /// Spec: docs/protocol/methods.md, *Rules for PINs*; RFC 7914 §2.
    public private(set) var cost = 16

    private init() {}

    /// The policy as JSON.
    public var json: JSONValue {
        .members([
            "min_length": .integer(Int64(minimumLength)), "max_length": .integer(Int64(maximumLength)),
            "max_repeats": .integer(Int64(maximumRepeats)), "sequences": .bool(allowsSequences),
            "blocked": .array(blocked.map(JSONValue.string)), "attempts": .integer(Int64(attempts)),
            "at_limit": .string(limitAction.rawValue), "cost": .integer(Int64(cost)),
        ])
    }

    /// Reads a policy; members left out get the values of ``standard``.
    ///
    /// Server and device both refuse a policy outside its bounds, so that neither a mistake nor a lying
    /// server makes PINs cheap to guess.
    ///
    /// - Parameters:
    ///   - json: the policy.
    ///   - pointer: its place in the whole document.
    ///   - isOpen: whether unknown members are ignored, as devices do.
    public init(_ json: JSONValue, at pointer: String, ignoringUnknown isOpen: Bool = false) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        func integer(
            _ name: String, _ range: ClosedRange<Int64>, _ value: inout Int
        ) throws(JSONShapeError) {
            if let number = try members.optionalInteger(name, in: range) { value = Int(number) }
        }
        try integer("min_length", Bounds.length, &minimumLength)
        try integer("max_length", Bounds.length, &maximumLength)
        guard minimumLength <= maximumLength else {
            throw .invalid(pointer: members.pointer(to: "max_length"), expected: "at least min_length")
        }
        try integer("max_repeats", 1...Bounds.length.upperBound, &maximumRepeats)
        allowsSequences = try members.optionalBool("sequences") ?? allowsSequences
        let list = "an array of at most \(Bounds.blocked) PINs, each of 4 to 32 digits"
        blocked =
            try members.optional("blocked", list) { value in
                let pins = value.array?.map { $0.string.flatMap { Self.isPIN($0) ? $0 : nil } }
                guard let pins, pins.count <= Bounds.blocked, !pins.contains(nil) else { return nil }
                return pins.compactMap { $0 }
            } ?? blocked
        try integer("attempts", Bounds.attempts, &attempts)
        limitAction =
            try members.optional("at_limit", "\"lock\" or \"remove\"") {
                $0.string.flatMap(PINLimitAction.init(rawValue:))
            } ?? limitAction
        try integer("cost", Bounds.cost, &cost)
        if !isOpen { try members.refuseUnknown() }
    }

    /// Whether a text can be a PIN at all: 4 to 32 ASCII digits.
    public static func isPIN(_ text: String) -> Bool {
        Bounds.length.contains(Int64(text.utf8.count))
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Checks a PIN that is to be set.
    ///
    /// - Parameter digits: 4 to 32 ASCII digits.
    public func check(_ digits: String) throws(PINViolation) {
        let values = digits.utf8.map { Int($0) - 48 }
        guard (minimumLength...maximumLength).contains(values.count) else { throw .length }
        let counts = Dictionary(values.map { ($0, 1) }, uniquingKeysWith: +)
        guard (counts.values.max() ?? 0) <= maximumRepeats else { throw .repeats }
        let steps = Set(zip(values, values.dropFirst()).map { ($1 - $0 + 10) % 10 })
        guard allowsSequences || steps.count != 1 || !steps.isSubset(of: [1, 2, 8, 9]) else { throw .sequence }
        guard !blocked.contains(where: { $0.hasSameBytes(as: digits) }) else { throw .blocked }
    }
}
