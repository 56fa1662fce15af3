package import CountersignWire

// All rules on where a device is believed are in this file. A client could enroll a device of its own for a user; so a
// device that its user has not confirmed is believed only where the client that enrolled it is.
//
// Spec: docs/decisions/0075-whose-devices-are-believed.md.

extension Enrollment {
    /// The group of the client that enrolled it.
    package var trustGroup: TrustGroup { isThirdParty ? .thirdParty(client) : .firstParty }

    /// Whether its user has confirmed it.
    package var isConfirmed: Bool { confirmedAt != nil }

    /// Whether it counts for the clients of a group: may be asked by them, open sessions at them, and approve devices
    /// that they enroll.
    func isBelieved(in group: TrustGroup) -> Bool { isConfirmed || trustGroup == group }

    /// Whether it may see another device of its user, and act on it.
    func mayActOn(_ other: Enrollment) -> Bool { isBelieved(in: other.trustGroup) }
}

extension Client {
    /// Whether it may remove a device of its user, or waive its wait: the devices of its own group, even those that the
    /// user has confirmed since.
    func mayActOn(_ enrollment: Enrollment) -> Bool { enrollment.trustGroup == trustGroup }
}

extension UnitOfWork {
    /// Whether a device counts at a client.
    func isBelieved(_ enrollment: Enrollment, at client: ClientID) throws -> Bool {
        if enrollment.isConfirmed || enrollment.client == client { return true }
        guard let client = try clients.find(client) else { return false }
        return enrollment.isBelieved(in: client.trustGroup)
    }

    /// Whether a custom authenticator of a device counts at a client: only in the group of the client whose
    /// authenticator it is, even if the device is confirmed, since that client says what is right.
    func isGood(_ authenticator: AuthenticatorName, of enrollment: Enrollment, at client: ClientID) throws -> Bool {
        if enrollment.client == client { return true }
        return try clients.find(client)?.trustGroup == enrollment.trustGroup
    }

    /// Notes that its user has confirmed an enrollment; it is believed at all clients from then on.
    func confirm(_ enrollment: Enrollment) throws {
        guard !enrollment.isConfirmed else { return }
        try enrollments.confirm(enrollment.id, at: now)
        try raise(.enrollmentConfirmed(enrollment))
    }

    /// Takes back that the user has confirmed what a client enrolled, since the user has just proved an address on the
    /// client's word alone.
    ///
    /// Nothing ends by it: the devices stay good in the client's group.
    func unconfirmEnrollments(of user: UserID, by client: ClientID) throws {
        for enrollment in try enrollments.active(of: user) where enrollment.client == client && enrollment.isConfirmed {
            try enrollments.confirm(enrollment.id, at: nil)
            try raise(.enrollmentUnconfirmed(enrollment))
        }
    }
}
