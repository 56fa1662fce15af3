public import CountersignWire

/// A filter for events of the audit; an event must meet all conditions that are set.
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

    /// A filter that all events meet.
    public init() {}
}
