package import CountersignWire

/// A call that comes from an active device, as whoever authenticated it has established.
///
/// The guard against its replay is not spent yet: every operation does that in its own transaction, by
/// ``UnitOfWork/admit(_:evenSuspended:)``.
package struct DeviceCall: Sendable {
    /// Who calls.
    package let enrollment: Enrollment
    let replayGuard: ReplayGuard

    /// Who acts by this call.
    var actor: Actor { .device(enrollment.id) }

    /// A call of an enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: whose call it is shown to be.
    ///   - replayGuard: what refuses the same call a second time.
    package init(enrollment: Enrollment, replayGuard: ReplayGuard) {
        self.enrollment = enrollment
        self.replayGuard = replayGuard
    }
}

/// What is spent so that the same call is not carried out twice: a text that no other call of its scope has.
package struct ReplayGuard: Sendable {
    /// How far the clocks of a device and a server may be apart.
    ///
    /// Spec: design 3.5.
    package static let tolerance = Seconds.minutes(1)
    /// How much longer than a proof is in time its nonce is remembered.
    ///
    /// A replay may be verified at the last moment and spend its nonce later, after a sweep, or the clock may be set
    /// back a little.
    private static let margin = Seconds.minutes(1)

    let text: String
    let scope: String
    let until: Timestamp

    /// A guard that is remembered until a time, when the call would be refused for its age.
    package init(_ text: String, of scope: String, until: Timestamp) {
        self.text = text
        self.scope = scope
        self.until = until
    }

    /// The guard of a proof that is known to be good; checks its time.
    init(_ proof: some DeviceProof, now: Timestamp) throws(DeviceRefusal) {
        guard abs(now.seconds - proof.created) <= Self.tolerance.value else { throw .clockSkew(serverTime: now) }
        self.init(
            proof.nonce, of: proof.keyID,
            until: Timestamp(seconds: proof.created).adding(Self.tolerance + 1 + Self.margin))
    }
}

extension Enrollment.State {
    func removalNotice(of enrollment: EnrollmentID, issuer: Issuer) -> RemovalNotice? {
        switch self {
        case .active, .suspended: nil
        case .removed(let reason, let time):
            RemovalNotice(issuer: issuer, enrollment: enrollment, removedAt: time, reason: reason)
        }
    }
}

extension Stores {
    /// Why an enrollment may not go on, or nil.
    ///
    /// Spec: design 13 §2.4.
    ///
    /// - Parameters:
    ///   - enrollment: which.
    ///   - isSuspendedToo: whether a suspended device may do what it wants to do.
    ///   - issuer: the issuer.
    func refusal(
        of enrollment: EnrollmentID, evenSuspended isSuspendedToo: Bool = false, issuer: Issuer
    ) throws -> DeviceRefusal? {
        guard let state = try enrollments.state(enrollment) else { return .unknownEnrollment }
        if case .suspended = state, !isSuspendedToo { return .suspended }
        return state.removalNotice(of: enrollment, issuer: issuer).map(DeviceRefusal.deregistered)
    }
}

extension UnitOfWork {
    /// Spends a call's guard against replay and looks whether the enrollment is still active, in the transaction that
    /// does the work.
    ///
    /// - Returns: nil when the call may be carried out.
    func admit(
        _ call: DeviceCall, evenSuspended isSuspendedToo: Bool = false
    ) throws -> DeviceRefusal? {
        try stores.refusal(of: call.enrollment.id, evenSuspended: isSuspendedToo, issuer: issuer)
            ?? spend(call.replayGuard)
    }

    func spend(_ replayGuard: ReplayGuard) throws -> DeviceRefusal? {
        try nonces.spend(nonce: replayGuard.text, of: replayGuard.scope, until: replayGuard.until)
            ? nil : .nonceReplayed
    }
}
