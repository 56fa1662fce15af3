public import CountersignWire

/// Which events of the audit are meant: those that meet all that is said.
public struct AuditFilter: Hashable, Sendable {
    /// Of one kind.
    public var kind: AuditEventKind?
    /// Of one client.
    public var client: ClientID?
    /// Of one user.
    public var user: UserID?
    /// Of one device.
    public var enrollment: EnrollmentID?
    /// Of one challenge.
    public var challenge: ChallengeID?
    /// From this time on.
    public var since: Timestamp?
    /// Before this time.
    public var until: Timestamp?

    /// All.
    public init() {}
}
