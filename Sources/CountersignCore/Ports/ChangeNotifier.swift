package import CountersignWire

/// The subject of a notification that tasks can wait for.
package enum ChangeTopic: Hashable, Sendable {
    /// A challenge has ended.
    case challenge(ChallengeID)
    /// An enrollment has a new challenge, one fewer, or is removed.
    case enrollment(EnrollmentID)
    /// A message of this kind in the outbox is due, or will be sooner than those before it.
    case outbox(OutboxMessage.Kind)
    /// A sign-in has changed.
    case authorization(AuthorizationID)
    /// The issuer's keys have changed.
    case keys
}

/// Notifies waiting tasks that something has changed.
///
/// A notification is sent together with the commit of its change.
package protocol ChangeNotifier: Sendable {
    /// Subscribes from now on: subscribe first, and read the state afterwards; then no change is missed.
    func subscribe(to topic: ChangeTopic) -> any ChangeSubscription
}

/// A subscription of one task.
///
/// It ends when the value is released.
package protocol ChangeSubscription: Sendable {
    /// Returns when the topic was notified since the subscription began or since the last return, or at the deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the subscription is interrupted.
    func wait(until deadline: Timestamp) async throws

    /// Ends the current wait, and every later one, with `CancellationError`.
    func interrupt()
}
