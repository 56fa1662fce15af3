public import CountersignWire

/// Why an enrollment has ended, as the server's signed notice says.
public struct Removal: Hashable, Sendable {
    /// What an app should tell its user.
    public enum Kind: Sendable {
        /// The user ended the enrollment on this device, or a newer device replaced it: the user need not be told.
        case deviceDeregistered
        /// The user's account is no longer on this device: a wrong PIN was typed too often, or the account was deleted.
        case userDeregistered
        /// The relying party, the operator or the user on another device removed this device from the account for
        /// security.
        case userDisenrolled
    }

    /// The reason, in the API's term (`removed_by_client`, `wrong_pin`, …).
    ///
    /// A newer server may send a reason that is not in `RemovalReason`.
    public let reason: String
    /// When the enrollment was removed.
    public let removedAt: Timestamp

    init(_ notice: RemovalNotice) {
        reason = notice.reasonText
        removedAt = notice.removedAt
    }

    /// Makes a removal, for tests of an app.
    public init(reason: String, removedAt: Timestamp) {
        self.reason = reason
        self.removedAt = removedAt
    }

    /// What to tell the user; an unknown reason counts as a removal by somebody else.
    public var kind: Kind {
        switch RemovalReason(rawValue: reason) {
        case .device, .replaced: .deviceDeregistered
        case .wrongPIN, .user: .userDeregistered
        case .client, .security, .operator, .lost, .otherDevice, .account, .denied, nil: .userDisenrolled
        }
    }
}
