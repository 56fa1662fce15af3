package import CountersignWire
import Encodings

/// Suspends devices and resumes them, for the operator; see ``ActOnDevice`` for the user's own.
///
/// Spec: design 13 §2.4.
package enum SuspendEnrollment {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// It is so now, or was before.
        case done
        /// There is no such enrollment, or it is over.
        case notFound
        /// The device waits, and can be removed only.
        case waiting
    }

    /// Suspends or resumes a device.
    package static func suspend(
        _ id: EnrollmentID, _ isSuspended: Bool, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let enrollment = try work.locked(id), enrollment.isPresent else { return .notFound }
            guard enrollment.counts(at: now) else { return .waiting }
            let state = enrollment.state
            guard (state == .active) == isSuspended else { return .done }
            try work.setSuspended(enrollment, isSuspended)
            return .done
        }
    }
}

extension UnitOfWork {
    /// What a device does with another one.
    ///
    /// The caller has locked the user's row.
    func carryOut(_ kind: DeviceAct.Kind, on other: Enrollment) throws {
        switch kind {
        case .suspend: try setSuspended(other, true)
        case .resume: try setSuspended(other, false)
        case .remove: _ = try removeEnrollment(other.id, reason: .otherDevice)
        }
    }

    /// Suspends a device that counts, or resumes it; what waits on it is undone.
    fileprivate func setSuspended(_ enrollment: Enrollment, _ isSuspended: Bool) throws {
        try enrollments.suspend(enrollment.id, since: isSuspended ? now : nil)
        guard isSuspended else { return try raise(.enrollmentResumed(enrollment)) }
        try raise(.enrollmentSuspended(enrollment))
        try undoWaitingMethods(of: enrollment)
        try failPending(of: enrollment, because: .deviceSuspended)
    }

    /// Undoes every method of a device that waits.
    func undoWaitingMethods(of enrollment: Enrollment) throws {
        for (method, _) in enrollment.waiting(at: now) {
            // Each changes what is kept of the enrollment.
            guard let current = try enrollments.find(enrollment.id) else { continue }
            try undo(method, of: current)
        }
    }

    /// Undoes a method that waits.
    ///
    /// Its key stays in the certificate, which only the device can change; nothing takes its signature.
    func undo(_ method: AnswerMethod, of enrollment: Enrollment) throws {
        switch method {
        case .confirm: preconditionFailure("a device is removed")
        case .pin, .biometric: try methods.put(nil, for: method, of: enrollment.id, certificate: nil, countsFrom: now)
        case .custom(let name): try dropAuthenticator(name, of: enrollment)
        }
        try waits.delete(method, of: enrollment.id)
        try raise(.methodChanged(MethodEvent(method: method, change: .undone), of: enrollment))
    }
}
