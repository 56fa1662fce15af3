import CountersignWire

// All rules on where a device is believed are in this file. A client could enroll a device of its own for a user; so a
// device that its user has not confirmed is believed only where the client that enrolled it is.
//
// Spec: docs/decisions/0075-whose-devices-are-believed.md.

extension Enrollment {
    /// The group of the client that enrolled it.
    package var trustGroup: TrustGroup { TrustGroup(of: client, isThirdParty: isByThirdParty) }

    /// Whether its user has confirmed it.
    package var isConfirmed: Bool { confirmedAt != nil }

    /// Whether it counts for the clients of a group: may be asked by them, open sessions at them, and approve devices
    /// that they enroll.
    func isBelieved(in group: TrustGroup) -> Bool { isConfirmed || trustGroup == group }

    /// Whether it may see another device of its user, and act on it.
    ///
    /// A device of a third party's that is confirmed, or is about to be, acts at all clients, so that the devices of the
    /// operator's clients may act on it.
    func mayActOn(_ other: Enrollment) -> Bool {
        isBelieved(in: other.trustGroup) || other.isOrWillBeConfirmed && trustGroup == .firstParty
    }

    /// Whether its user has confirmed it, or has said so by an address alone and nobody has objected yet.
    private var isOrWillBeConfirmed: Bool { isConfirmed || confirmingFrom != nil }
}

extension Client {
    /// Whether it may remove a device of its user: the devices of its own group and, unless it is a third party, all
    /// that are confirmed.
    func mayRemove(_ enrollment: Enrollment) -> Bool {
        enrollment.trustGroup == trustGroup || enrollment.isConfirmed && trustGroup == .firstParty
    }

    /// Whether its ticket is authority over the methods of a device, and its waiver ends the device's wait: for devices
    /// of its own group.
    ///
    /// A waiver for a confirmed device would be one for all clients, which a third party cannot give.
    func mayWaive(_ enrollment: Enrollment) -> Bool {
        enrollment.trustGroup == trustGroup && !(isThirdParty && enrollment.isConfirmed)
    }
}

extension EnrollmentStore {
    /// The enrollments of a user that are not removed and count for the clients of a group.
    func believed(of user: UserID, in group: TrustGroup) throws -> [Enrollment] {
        try active(of: user).filter { $0.isBelieved(in: group) }
    }
}

extension StoreAccess {
    /// Whether a device counts at a client.
    func isBelieved(_ enrollment: Enrollment, at client: ClientID) throws -> Bool {
        if enrollment.isConfirmed || enrollment.client == client { return true }
        guard let client = try clients.find(client) else { return false }
        return enrollment.isBelieved(in: client.trustGroup)
    }

}

extension UnitOfWork {
    /// Whether a custom authenticator of a device counts at a client: only in the group of the client whose
    /// authenticator it is, even if the device is confirmed, since that client says what is right.
    func mayJudge(
        _ authenticator: AuthenticatorName, of enrollment: Enrollment, for client: ClientID
    ) throws -> Bool {
        if enrollment.client == client { return true }
        return try clients.find(client)?.trustGroup == enrollment.trustGroup
    }

    /// Notes that its user has confirmed an enrollment; it is believed at all clients from then on.
    func confirm(_ enrollment: Enrollment) throws {
        guard !enrollment.isConfirmed else { return }
        try enrollments.confirm(enrollment.id, at: now)
        try raise(.enrollmentConfirmed(enrollment))
    }

    /// Confirms a device on the word of somebody who is at one of the user's addresses and has no confirmed device.
    ///
    /// An address alone brings no new device in before the time that a new device waits. So the device is confirmed at
    /// once only where no client has believed another one; else later, and everybody is told meanwhile.
    ///
    /// The caller has locked the user's row.
    ///
    /// - Parameters:
    ///   - enrollment: the device.
    ///   - earliest: from when it may be confirmed because of the user's passkeys; nil for at once.
    /// - Returns: from when it is confirmed; nil for at once.
    func confirmByAddress(_ enrollment: Enrollment, notBefore earliest: Timestamp?) throws -> Timestamp? {
        if enrollment.isConfirmed { return nil }
        if let time = enrollment.confirmingFrom { return time }
        let elsewhere = try enrollments.active(of: enrollment.user).filter { other in
            other.id != enrollment.id && (other.isConfirmed || other.trustGroup != enrollment.trustGroup)
        }
        let wait = try trustState(of: enrollment.user, in: nil, among: elsewhere).newEnrollmentCounts
        guard let time = [wait, earliest].compactMap(\.self).max() else {
            try confirm(enrollment)
            return nil
        }
        try enrollments.confirm(enrollment.id, from: time)
        try raise(.enrollmentConfirming(enrollment, from: time))
        return time
    }

    /// Whether the user has confirmed a device by the approval of another one.
    ///
    /// A confirmed device counts at all clients, so that the approval must be good enough for all of them; and one that
    /// signs nothing of what it shows says yes to no other device.
    ///
    /// - Parameters:
    ///   - approver: the device that approved.
    ///   - isTap: whether the approval proves possession of that device alone.
    ///   - user: the user of both.
    func confirms(_ approver: EnrollmentID, isTap: Bool, of user: UserID) throws -> Bool {
        guard let device = try enrollments.find(approver), device.isConfirmed, device.signsReceipts else {
            return false
        }
        return try !isTap || !trustState(of: user, in: nil).isGuarded()
    }

    /// Takes back that the user has confirmed what a client enrolled, since an address has just been proved on the
    /// client's word alone.
    ///
    /// Nothing ends by it: the devices stay good in the client's group. Elsewhere they leave behind what a removal
    /// would, so that no new device waits less.
    ///
    /// The caller has locked the user's row.
    func unconfirmEnrollments(of user: UserID, by client: ClientID) throws {
        for enrollment in try enrollments.active(of: user) where enrollment.client == client {
            try stopConfirming(enrollment)
            guard enrollment.isConfirmed else { continue }
            try leaveBehind(enrollment)
            try enrollments.confirm(enrollment.id, at: nil)
            try raise(.enrollmentUnconfirmed(enrollment))
        }
    }

    /// Forgets that a device is about to be confirmed.
    func stopConfirming(_ enrollment: Enrollment) throws {
        if enrollment.confirmingFrom != nil { try enrollments.confirm(enrollment.id, from: nil) }
    }
}
