package import CountersignWire

/// A filter for events of the audit; an event must meet all conditions that are set.
package struct AuditFilter: Hashable, Sendable {
    /// Of one kind.
    package var kind: AuditEventKind?
    /// Of one client.
    package var client: ClientID?
    /// Of one user.
    package var user: UserID?
    /// Of one device.
    package var enrollment: EnrollmentID?
    /// Of one challenge.
    package var challenge: ChallengeID?
    /// From this time on.
    package var since: Timestamp?
    /// Before this time.
    package var until: Timestamp?

    /// A filter that all events meet.
    package init() {}
}
