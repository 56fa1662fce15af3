import Synchronization

/// Counts the sign-ins that pages have refused.
///
/// They are not in the audit: anybody can cause any number of them, also for people whom nobody knows.
package final class RefusedSignIns: Sendable {
    /// Why a sign-in was refused: the stable names of the log and of the metrics.
    package enum Reason: String, CaseIterable, Sendable {
        /// A code was wrong, and can be typed some more times.
        case wrongCode = "wrong_code"
        /// The last try of a code was wrong, or what was sent is no longer good.
        case codeOver = "code_over"
        /// There is no such passkey, it did not sign this, or it does not count for the client.
        case passkeyRefused = "passkey_refused"
        /// A passkey does not count yet.
        case passkeyWaiting = "passkey_waiting"
        /// A limit was exceeded before anything was looked at.
        case tooMany = "too_many"
        /// Somebody else was authenticated than the client expects.
        case otherPerson = "other_person"
        /// The authentication is weaker than the client takes.
        case tooWeak = "too_weak"
    }

    private let byReason = Mutex<[Reason: Int]>([:])

    /// How many there were, by reason.
    package var counts: [Reason: Int] { byReason.withLock { $0 } }

    /// Counts one.
    package func note(_ reason: Reason) { byReason.withLock { $0[reason, default: 0] += 1 } }
}
