public import CountersignWire

/// Why an enrollment is over, by the server's signed word.
public struct Removal: Hashable, Sendable {
    /// What an app tells its user.
    public enum Kind: Sendable {
        /// The enrollment ended here, or made room for a newer one: nothing happened that the user should know of.
        case deviceDeregistered
        /// The user's account is not on this device any more: a wrong PIN was typed too often, or the account was deleted.
        case userDeregistered
        /// Somebody took this device out of the account, for safety: relying party, operator or the user elsewhere.
        case userDisenrolled
    }

    /// The reason, by the word of the API (`removed_by_client`, `wrong_pin`, …).
    ///
    /// A server that is newer than the app may say one that is not among `RemovalReason`.
    public let reason: String
    /// Since when.
    public let removedAt: Timestamp

    init(_ notice: RemovalNotice) {
        reason = notice.reasonText
        removedAt = notice.removedAt
    }

    /// A removal for a reason; for tests of an app.
    public init(reason: String, removedAt: Timestamp) {
        self.reason = reason
        self.removedAt = removedAt
    }

    /// What to tell the user; a reason that this version does not know is somebody's, as far as it can tell.
    public var kind: Kind {
        switch RemovalReason(rawValue: reason) {
        case .device, .replaced: .deviceDeregistered
        case .wrongPIN, .user: .userDeregistered
        case .client, .security, .operator, .lost, .otherDevice, .denied, nil: .userDisenrolled
        }
    }
}
