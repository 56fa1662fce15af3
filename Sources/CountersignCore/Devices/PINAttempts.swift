import CountersignWire
import Encodings
import OpenPGP

/// The result of counting a wrong PIN.
enum WrongPIN: Sendable {
    /// The wrong PIN was counted.
    case counted(attemptsLeft: Int)
    /// The PIN was locked before, so nothing was counted.
    case locked
    /// The PIN was replaced or removed after the signature was verified, so nothing was counted.
    case changed
}

extension Stores {
    /// The PIN policy of an enrollment, as set by the client whose ticket made it.
    func pinPolicy(of enrollment: Enrollment) throws -> PINPolicy {
        try clients.find(enrollment.client)?.pinPolicy ?? .standard
    }

    /// How many wrong PINs an enrollment has left; 0 if it has no PIN or a locked one.
    func attemptsLeft(of enrollment: Enrollment) throws -> Int {
        guard let pin = enrollment.pin, pin.lockedAt == nil else { return 0 }
        // If the policy has become stricter since the last wrong PIN, one more is left.
        return max(1, try pinPolicy(of: enrollment).attempts - pin.wrongCount)
    }

    /// How many wrong PINs a device may still type for a challenge; nil where no PIN answers.
    func attemptsLeft(of enrollment: Enrollment, for challenge: Challenge, at now: Timestamp) throws -> Int? {
        guard challenge.methods.contains(.pin) else { return nil }
        return min(try attemptsLeft(of: enrollment), try triesLeft(of: challenge, at: now))
    }

    /// How many more wrong answers a challenge accepts; `Int.max` if its type sets no limit.
    func triesLeft(of challenge: Challenge, at now: Timestamp) throws -> Int {
        guard let maximum = challenge.attempts else { return .max }
        // A pending challenge accepts at least one more.
        return max(1, try counted(.wrongAnswers(challenge.id, maximum: maximum), at: now).left)
    }
}

extension UnitOfWork {
    /// Counts a wrong PIN, and at the limit locks the PIN or removes the enrollment, as the client's policy says.
    ///
    /// All challenges, changes and acts of an enrollment share one count.
    ///
    /// Spec: docs/protocol/challenges.md, *Checks*; NIST SP 800-63B-4 §3.2.10; PSD2 RTS Article 4(3)(b).
    ///
    /// - Parameters:
    ///   - key: the key of the PIN that should have been typed.
    ///   - enrollment: the enrollment of the device.
    func noteWrongPIN(
        besides key: CertifiedKey, of enrollment: Enrollment
    ) throws -> WrongPIN {
        guard let count = try methods.countWrongPIN(key, of: enrollment.id) else {
            let pin = try enrollments.find(enrollment.id)?.pin
            return pin?.key.fingerprint == key.fingerprint ? .locked : .changed
        }
        let policy = try stores.pinPolicy(of: enrollment)
        let attemptsLeft = max(0, policy.attempts - count)
        try raise(.pinIncorrect(attemptsLeft: attemptsLeft, of: enrollment))
        guard attemptsLeft == 0 else { return .counted(attemptsLeft: attemptsLeft) }
        switch policy.limitAction {
        case .lock:
            try methods.lockPIN(of: enrollment.id, at: now)
            try raise(.pinLocked(of: enrollment))
            try failUnanswerable(by: enrollment, because: .tooManyAttempts)
        case .remove:
            _ = try removeEnrollment(enrollment.id, reason: .wrongPIN)
        }
        return .counted(attemptsLeft: 0)
    }
}
