import CountersignWire
import Encodings

/// The push registration of an enrollment, and when the server received it.
struct PushRecord: Sendable {
    static let name = "push"
    private static let version: Int64 = 1
    /// How long a registration counts as known to the server, in seconds: the push service may have refused the token
    /// since, and a server drops a refused token.
    private static let lifetime: Int64 = 24 * 3600

    /// The registration; nil if pushes are switched off.
    let registration: PushRegistration?
    /// When the server received it; nil if it has not.
    var toldAt: Timestamp?

    /// Whether the server knows this registration.
    func isKnown(_ registration: PushRegistration?, at now: Timestamp) -> Bool {
        guard let toldAt, self.registration?.json == registration?.json else { return false }
        return (toldAt...toldAt.adding(seconds: Self.lifetime)).contains(now)
    }

    var encoded: [UInt8] {
        JSONValue.members([
            "v": .integer(Self.version), "registration": registration?.json,
            "told_at": toldAt.map { .integer($0.milliseconds) },
        ]).encoded
    }

    init(registration: PushRegistration?, toldAt: Timestamp? = nil) {
        self.registration = registration
        self.toldAt = toldAt
    }

    /// Reads a record, or nil.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), json["v"] == .integer(Self.version) else { return nil }
        if let registration = json["registration"] {
            guard let read = try? PushRegistration(registration, at: "") else { return nil }
            self.registration = read
        } else {
            registration = nil
        }
        toldAt = json["told_at"]?.integer.map(Timestamp.init(milliseconds:))
    }
}
