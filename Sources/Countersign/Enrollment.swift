public import CountersignWire
import Encodings
public import OpenPGP

/// What a new device shows while it waits for the approval of another device.
public struct AwaitedApproval: Hashable, Sendable {
    /// The digits to type on the other device; nil if no device could type them.
    public let number: String?
    /// When the new device becomes active, unless somebody refuses it before.
    public let expiresAt: Timestamp

    init(_ notice: ApprovalNotice) {
        number = notice.number?.digits
        expiresAt = notice.expiresAt
    }
}

/// One user on this device.
public struct Enrollment: Sendable {
    /// The enrollment's id.
    public let id: EnrollmentID
    let authenticator: Authenticator
    let stored: StoredEnrollment
    /// What the enrollment waits for; nil if it need not wait, and nil for an enrollment of an earlier run: the server
    /// returns the number only once.
    public let approval: AwaitedApproval?

    init(
        id: EnrollmentID, authenticator: Authenticator, stored: StoredEnrollment, approval: AwaitedApproval? = nil
    ) {
        self.approval = approval
        self.id = id
        self.authenticator = authenticator
        self.stored = stored
    }

    /// The user's id.
    public var user: UserID { stored.user }

    /// The fingerprint of the device's primary key, as receipts name it.
    public var fingerprint: Fingerprint { stored.certificate.fingerprint }

    /// The device's certificate in armor, for verifying its receipts.
    public var certificate: String { stored.certificate.armored }

    /// Asks the server for the state of the enrollment.
    ///
    /// An enrollment that the server removed, or that the user did not approve, is wiped, and the call throws
    /// ``CountersignError/deviceDeregistered(_:)``.
    ///
    /// - Returns: when the enrollment becomes active at the latest, if it waits for the approval of another device; nil
    ///   when it is active.
    @discardableResult
    public func refresh() async throws(CountersignError) -> Timestamp? {
        let json = try await authenticator.send("GET", "/v1/enrollments/self", for: stored).json()
        return json["waiting_until"]?.string.flatMap { Timestamp($0) }
    }

    /// Removes the enrollment on the server and on this device.
    ///
    /// If the server cannot be reached, nothing changes; see ``removeLocally()``.
    public func remove() async throws(CountersignError) {
        do {
            _ = try await authenticator.send("DELETE", "/v1/enrollments/self", for: stored)
        } catch .deviceDeregistered {
            return
        }
        try await authenticator.forget(id)
    }

    /// Deletes the enrollment from this device only.
    ///
    /// The server keeps it as active until somebody removes it there.
    public func removeLocally() async throws(CountersignError) {
        try await authenticator.forget(id)
    }
}
