package import CountersignWire

/// Removes a method that still waits, on any device of the user on which the calling device may act.
///
/// Spec: docs/protocol/devices.md, *Undo a method*.
package enum UndoMethod {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The method is removed.
        case undone
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device itself still waits to be added.
        case waiting
        /// The user has no such device, or the device has no such method that waits.
        case notFound
    }

    /// Removes the method.
    ///
    /// - Parameters:
    ///   - method: the method; any except `confirm`.
    ///   - other: the enrollment that has the method.
    ///   - call: the call of the device that acts.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func undo(
        _ method: AnswerMethod, of other: EnrollmentID, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(call.user)
            if let refusal = try work.admit(call) { return .refused(refusal) }
            let enrollments = try work.enrollments.active(of: call.user)
            guard let caller = enrollments.first(where: { $0.id == call.enrollment }), caller.isLetIn(at: now) else {
                return .waiting
            }
            // A device that waits is no method: it is removed. A device with JWKs changes no methods.
            guard caller.signsReceipts, let target = enrollments.first(where: { $0.id == other }),
                caller.mayActOn(target), target.methods.contains(method), target.waits(method, at: now)
            else { return .notFound }
            try work.undo(method, of: target)
            return .undone
        }
    }
}
