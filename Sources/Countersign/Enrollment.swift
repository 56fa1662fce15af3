public import CountersignWire
import Encodings
public import OpenPGP

/// What a user does with a new device while it waits for one that they have.
public struct AwaitedApproval: Hashable, Sendable {
    /// The digits to type on the other device.
    public let number: String?
    /// When it waits no longer, if nobody says no.
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
    /// What it waits for, as enrolling told it: the number is told this once; nil when it need not wait, and for an
    /// enrollment of an earlier run.
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

    /// The device's certificate, armored: what verifies its receipts.
    public var certificate: String { stored.certificate.armored }

    /// Asks the server how the enrollment stands; one that it removed is wiped and throws
    /// ``CountersignError/deviceDeregistered(_:)``, as is one that the user did not approve.
    ///
    /// - Returns: until when it waits for another device of the user to approve it, at the longest; nil when it can be
    ///   asked.
    @discardableResult
    public func refresh() async throws(CountersignError) -> Timestamp? {
        let json = try await authenticator.send("GET", "/v1/enrollments/self", for: stored).json()
        return json["waiting_until"]?.string.flatMap { Timestamp($0) }
    }

    /// Removes the enrollment on the server and here.
    ///
    /// When the server cannot be reached nothing changes; see ``removeLocally()``.
    public func remove() async throws(CountersignError) {
        do {
            _ = try await authenticator.send("DELETE", "/v1/enrollments/self", for: stored)
        } catch .deviceDeregistered {
            return
        }
        try await authenticator.forget(id)
    }

    /// Forgets the enrollment here.
    ///
    /// The server still believes in it until somebody removes it there.
    public func removeLocally() async throws(CountersignError) {
        try await authenticator.forget(id)
    }
}
