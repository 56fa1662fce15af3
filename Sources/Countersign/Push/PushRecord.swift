import CountersignWire
import Encodings

/// Where an enrollment is to be reached by push, and since when the server knows.
struct PushRecord: Sendable {
    static let name = "push"
    private static let version: Int64 = 1
    /// For how long the server is believed to know what it was told: a service may have refused the token since, and a
    /// server drops what is refused.
    private static let lifetime: Int64 = 24 * 3600

    /// Where; nil for nowhere.
    let registration: PushRegistration?
    /// When the server was told; nil when it was not.
    var toldAt: Timestamp?

    /// Whether this is what the server knows.
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
