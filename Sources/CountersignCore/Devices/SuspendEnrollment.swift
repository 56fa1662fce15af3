package import CountersignWire
import Encodings

/// Suspends and resumes devices, for the operator; ``ActOnDevice`` is for the user's own devices.
///
/// Spec: docs/decisions/0046-approval-of-devices.md.
package enum SuspendEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The device is in the wanted state, now or since before.
        case done
        /// There is no such enrollment, or it is removed.
        case notFound
        /// The device still waits to be added, so it can only be removed.
        case waiting
    }

    /// Suspends or resumes a device.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - isSuspended: true to suspend the device, false to resume it.
    ///   - actor: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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
    /// Carries out the act of one device on another.
    ///
    /// The caller has locked the user's row.
    func carryOut(_ kind: DeviceAct.Kind, on other: Enrollment) throws {
        switch kind {
        case .suspend: try setSuspended(other, true)
        case .resume: try setSuspended(other, false)
        case .remove: _ = try removeEnrollment(other.id, reason: .otherDevice)
        }
    }

    /// Suspends or resumes a device; suspending also ends the sessions that it has opened, removes its methods that wait
    /// and fails its open challenges.
    func setSuspended(_ enrollment: Enrollment, _ isSuspended: Bool) throws {
        try enrollments.suspend(enrollment.id, since: isSuspended ? now : nil)
        guard isSuspended else { return try raise(.enrollmentResumed(enrollment)) }
        try stopConfirming(enrollment)
        try raise(.enrollmentSuspended(enrollment))
        try undoWaitingMethods(of: enrollment)
        try failPending(of: enrollment, because: .deviceSuspended)
    }

    /// Removes those methods of a device that still wait.
    func undoWaitingMethods(of enrollment: Enrollment) throws {
        for (method, _) in enrollment.waiting(at: now) {
            // Each removal changes the stored enrollment, so it is read again.
            guard let current = try enrollments.find(enrollment.id) else { continue }
            try undo(method, of: current)
        }
    }

    /// Removes a method that waits.
    ///
    /// The key stays in the certificate, because only the device can change the certificate. A signature by the key is
    /// not accepted any more.
    ///
    /// - Parameters:
    ///   - method: any method except `confirm`, which stops the process.
    ///   - enrollment: the enrollment, as it is in this transaction.
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
