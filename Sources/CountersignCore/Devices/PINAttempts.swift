import CountersignWire
import Encodings
import OpenPGP

/// What a wrong PIN leads to.
enum WrongPIN: Sendable {
    /// It was counted.
    case counted(attemptsLeft: Int)
    /// The PIN is locked.
    case locked
    /// The PIN is another one than that which was judged by.
    case changed
}

extension Stores {
    /// The rules for the PINs of an enrollment: those of the client through which it came.
    func pinPolicy(of enrollment: Enrollment) throws -> PINPolicy {
        try clients.find(enrollment.client)?.pinPolicy ?? .standard
    }

    /// How many wrong PINs an enrollment has left; none where it has no PIN, or a locked one.
    func attemptsLeft(of enrollment: Enrollment) throws -> Int {
        guard let pin = enrollment.pin, pin.lockedAt == nil else { return 0 }
        // Where the policy has become stricter since, the next one is the last.
        return max(1, try pinPolicy(of: enrollment).attempts - pin.wrongCount)
    }
}

extension UnitOfWork {
    /// Counts a wrong PIN, for all challenges and changes of an enrollment together, and does at the limit what the
    /// client's policy says.
    ///
    /// Spec: design 3.8, *Wrong PIN*; NIST SP 800-63B-4 §3.2.10; PSD2 RTS Article 4(3)(b).
    ///
    /// - Parameters:
    ///   - key: the key of the PIN that it was not.
    ///   - enrollment: whose.
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
