public import CountersignWire

/// Something that can change while somebody waits for it.
public enum ChangeTopic: Hashable, Sendable {
    /// A challenge has ended.
    case challenge(ChallengeID)
    /// An enrollment has a new challenge, one fewer, or is removed.
    case enrollment(EnrollmentID)
    /// Something is due in the outbox.
    case outbox
    /// The issuer's keys have changed.
    case keys
}

/// Tells those who wait that something changed.
///
/// A notice leaves with the commit that made the change.
public protocol ChangeNotifier: Sendable {
    /// Listens from now on: subscribe first, read the state after, and no change is missed.
    func subscribe(to topic: ChangeTopic) -> any ChangeSubscription
}

/// One listener.
///
/// It ends with the value.
public protocol ChangeSubscription: Sendable {
    /// Returns when the topic was notified since the subscription began or since the last return, or at the deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the subscription is interrupted.
    func wait(until deadline: Timestamp) async throws

    /// Ends the wait that is under way, and every later one, with `CancellationError`.
    func interrupt()
}
