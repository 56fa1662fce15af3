package import CountersignWire

/// A call that a device has signed.
///
/// Two things are still open, and every operation checks both: whether the enrollment is there and may call, and whether
/// the call is a replay. An operation that changes something does so in its own transaction, with
/// ``UnitOfWork/admit(_:evenSuspended:)``, one that only reads with ``Ports/read(for:evenSuspended:at:refused:_:)``.
package struct DeviceCall: Sendable {
    /// The enrollment that calls.
    package let enrollment: EnrollmentID
    /// The user of the enrollment.
    let user: UserID
    let replayGuard: ReplayGuard

    /// The device as the actor of the operation.
    var actor: Actor { .device(enrollment) }

    /// A call of an enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment whose proof was verified.
    ///   - user: the user of the enrollment.
    ///   - replayGuard: the guard against a replay of the call.
    package init(enrollment: EnrollmentID, of user: UserID, replayGuard: ReplayGuard) {
        self.enrollment = enrollment
        self.user = user
        self.replayGuard = replayGuard
    }
}

/// A guard against the replay of a call: a text that is unique in its scope and that can be spent only once.
package struct ReplayGuard: Sendable {
    /// How far the clocks of a device and a server may be apart.
    ///
    /// Spec: docs/protocol/requests.md, *Checks of the server*.
    package static let tolerance = Seconds.minutes(1)
    /// How much longer a nonce is remembered than the time of its proof is accepted.
    ///
    /// A replay may be verified at the last moment and spend its nonce only after a sweep, or the clock may be set
    /// back a little.
    static let margin = Seconds.minutes(1)

    let text: String
    let scope: String
    let until: Timestamp

    /// A guard for a call.
    ///
    /// - Parameters:
    ///   - text: the text, for example a nonce.
    ///   - scope: the scope in which the text is unique, for example a key id.
    ///   - until: until when a spent text is remembered; from then on the call is refused for its age.
    package init(_ text: String, of scope: String, until: Timestamp) {
        self.text = text
        self.scope = scope
        self.until = until
    }

    /// The guard for a proof that is verified already; this checks the time of the proof.
    ///
    /// - Parameters:
    ///   - proof: the proof.
    ///   - now: the time of the server.
    /// - Throws: ``DeviceRefusal/clockSkew(serverTime:)`` if the two times differ by more than ``tolerance``.
    init(_ proof: some DeviceProof, now: Timestamp) throws(DeviceRefusal) {
        // check: EnrollDeviceTests.signature
        guard abs(now.seconds - proof.created) <= Self.tolerance.value else { throw .clockSkew(serverTime: now) }
        self.init(
            proof.nonce, of: proof.keyID,
            until: Timestamp(seconds: proof.created).adding(Self.tolerance + 1 + Self.margin))
    }
}

extension Enrollment.State {
    private var isSuspended: Bool { if case .suspended = self { true } else { false } }

    func removalNotice(of enrollment: EnrollmentID, issuer: Issuer) -> RemovalNotice? {
        switch self {
        case .active, .suspended: nil
        case .removed(let reason, let time):
            RemovalNotice(issuer: issuer, enrollment: enrollment, removedAt: time, reason: reason)
        }
    }

    /// Why an operation of the enrollment is refused; see ``Stores/refusal(of:evenSuspended:issuer:)``.
    func refusal(
        of enrollment: EnrollmentID, evenSuspended isSuspendedToo: Bool = false, issuer: Issuer
    ) -> DeviceRefusal? {
        // check: WhoCountsTests.suspendedDoesNothing
        guard !isSuspended || isSuspendedToo else { return .suspended }
        return removalNotice(of: enrollment, issuer: issuer).map(DeviceRefusal.deregistered)
    }
}

extension Stores {
    /// Why an operation of an enrollment is refused; nil if it is not.
    ///
    /// Spec: docs/protocol/requests.md, *Checks of the server*.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment.
    ///   - isSuspendedToo: whether a suspended device may use the operation.
    ///   - issuer: the issuer, which a removal notice names.
    func refusal(
        of enrollment: EnrollmentID, evenSuspended isSuspendedToo: Bool = false, issuer: Issuer
    ) throws -> DeviceRefusal? {
        guard let state = try enrollments.state(enrollment) else { return .unknownEnrollment }
        return state.refusal(of: enrollment, evenSuspended: isSuspendedToo, issuer: issuer)
    }

    /// The calling enrollment as it is now, for the checks before the transaction that admits the call; a suspended one,
    /// too.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - issuer: the issuer, which a removal notice names.
    /// - Returns: why the call is refused, if the enrollment is gone.
    func caller(of call: DeviceCall, issuer: Issuer) throws -> Result<Enrollment, DeviceRefusal> {
        DeviceCall.caller(try enrollments.find(call.enrollment), issuer: issuer)
    }
}

extension DeviceCall {
    /// The calling enrollment, or why the call is refused if the enrollment is gone.
    static func caller(_ enrollment: Enrollment?, issuer: Issuer) -> Result<Enrollment, DeviceRefusal> {
        guard let enrollment else { return .failure(.unknownEnrollment) }
        let refusal = enrollment.state.refusal(of: enrollment.id, evenSuspended: true, issuer: issuer)
        return refusal.map(Result.failure) ?? .success(enrollment)
    }
}

extension UnitOfWork {
    /// Checks, in the transaction of the operation, that the enrollment may still call, and spends the replay guard.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - isSuspendedToo: whether a suspended device may use the operation.
    /// - Returns: why the call is refused; nil if it may be carried out.
    func admit(
        _ call: DeviceCall, evenSuspended isSuspendedToo: Bool = false
    ) throws -> DeviceRefusal? {
        try stores.refusal(of: call.enrollment, evenSuspended: isSuspendedToo, issuer: issuer)
            ?? spend(call.replayGuard)
    }

    /// Admits a call as ``admit(_:evenSuspended:)`` does, for operations that need the enrollment: one read for both.
    ///
    /// - Returns: the enrollment, or why the call is refused.
    func admitted(_ call: DeviceCall) throws -> Result<Enrollment, DeviceRefusal> {
        guard let enrollment = try enrollments.findHeld(call.enrollment) else { return .failure(.unknownEnrollment) }
        let refusal = enrollment.state.refusal(of: enrollment.id, issuer: issuer)
        return try (refusal ?? spend(call.replayGuard)).map(Result.failure) ?? .success(enrollment)
    }

    /// The enrollment of an admitted call.
    func caller(of call: DeviceCall) throws -> Enrollment {
        guard let enrollment = try enrollments.find(call.enrollment) else { throw StoreError.corruptRow("enrollment") }
        return enrollment
    }

    func spend(_ replayGuard: ReplayGuard) throws -> DeviceRefusal? {
        try nonces.spend(nonce: replayGuard.text, of: replayGuard.scope, until: replayGuard.until)
            ? nil : .nonceReplayed
    }
}
