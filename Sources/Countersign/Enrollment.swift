public import CountersignWire
public import OpenPGP

/// One user on this device.
public struct Enrollment: Sendable {
    /// The enrollment's id.
    public let id: EnrollmentID
    let authenticator: Authenticator
    let stored: StoredEnrollment

    init(id: EnrollmentID, authenticator: Authenticator, stored: StoredEnrollment) {
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
    /// ``CountersignError/deviceDeregistered``.
    public func refresh() async throws(CountersignError) {
        _ = try await authenticator.send("GET", "/v1/enrollments/self", for: stored)
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
