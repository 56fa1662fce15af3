package import CountersignWire

/// Undoes a method of another device of the user that does not count yet.
///
/// Spec: design 13 §1.6.
package enum UndoMethod {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The method is gone.
        case undone
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device waits to be added itself.
        case waiting
        /// The user has no such device, or it has no such method that waits.
        case notFound
    }

    /// Undoes the method.
    package static func undo(
        _ method: AnswerMethod, of other: EnrollmentID, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(call.enrollment.user)
            if let refusal = try work.admit(call) { return .refused(refusal) }
            let enrollments = try work.enrollments.active(of: call.enrollment.user)
            guard enrollments.contains(where: { $0.id == call.enrollment.id && $0.isLetIn(at: now) }) else {
                return .waiting
            }
            guard let target = enrollments.first(where: { $0.id == other }), target.waits(method, at: now) else {
                return .notFound
            }
            try work.undo(method, of: target)
            return .undone
        }
    }
}
