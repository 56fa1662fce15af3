public import Encodings

/// A pending challenge in the reply to a device that polls.
///
/// The reply holds the sealed challenge, so that nothing needs to be fetched, unless the reply would become too large.
public struct PendingEntry: Hashable, Sendable {
    /// The challenge.
    public let challenge: ChallengeID
    /// When it expires.
    public let expiresAt: Timestamp
    /// The challenge sealed to the device, a binary OpenPGP message; nil if the device must fetch it.
    public let message: [UInt8]?

    /// An entry of these parts.
    public init(challenge: ChallengeID, expiresAt: Timestamp, message: [UInt8]?) {
        self.challenge = challenge
        self.expiresAt = expiresAt
        self.message = message
    }

    /// The entry as JSON.
    public var json: JSONValue {
        .members([
            "id": .string("\(challenge)"), "expires_at": .string("\(expiresAt)"),
            "message": message.map { .string(Base64.encode($0)) },
        ])
    }

    /// Reads an entry at a JSON pointer; unknown members are ignored.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        challenge = try members.required("id", "a challenge id") { $0.string.flatMap { ChallengeID($0) } }
        expiresAt = try members.required("expires_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        message = try members.optional("message", "Base64") { $0.string.flatMap { Base64.decode($0) } }
    }
}
