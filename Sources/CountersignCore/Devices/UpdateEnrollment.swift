package import CountersignWire
import Encodings

/// Changes a device's description of itself, its push registration, and the body versions that it reads.
///
/// Spec: docs/protocol/enrollment.md, *Updates*.
package enum UpdateEnrollment {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment after the update.
        case updated(Enrollment)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// Another enrollment of the user has the same push token.
        case pushTokenInUse
    }

    /// Updates the enrollment of the calling device.
    ///
    /// - Parameters:
    ///   - update: the parts that change.
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func update(
        _ update: EnrollmentUpdate, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let id = call.enrollment
        return try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .refused(refusal) }
            switch update.push {
            case .unchanged: break
            case .registered(let registration):
                guard try !work.stores.isTaken(registration, besides: id, of: call.user) else {
                    return .pushTokenInUse
                }
                try work.pushes.put(registration, of: id, at: now)
            case .removed: try work.pushes.delete(of: id)
            }
            if let labels = update.device {
                let storage = try work.caller(of: call).device.storage
                try work.enrollments.put(DeviceDescription(labels: labels, storage: storage), of: id)
            }
            if let versions = update.versions { try work.enrollments.put(versions, of: id) }
            let enrollment = try work.caller(of: call)
            try work.raise(.enrollmentUpdated(enrollment, update))
            return .updated(enrollment)
        }
    }
}

extension Stores {
    /// Whether another enrollment of a user has the same push token.
    ///
    /// A push token belongs to one app on one device. Several users may share the device, but each of them has one
    /// enrollment on it. A second enrollment of one user with the same token is therefore a remainder of an earlier
    /// enrollment, or an attempt to get the pushes of another device.
    ///
    /// - Parameters:
    ///   - push: the service, the app and the token.
    ///   - own: the enrollment that wants to use the token.
    ///   - user: the user.
    func isTaken(_ push: PushRegistration, besides own: EnrollmentID, of user: UserID) throws -> Bool {
        try enrollments.active(of: user).contains { other in
            guard other.id != own, other.push?.service == push.service, other.push?.app == push.app else {
                return false
            }
            return try pushes.find(of: other.id)?.registration.token.isSame(as: push.token) == true
        }
    }
}

extension EnrollmentUpdate {
    /// The changes for the audit, without the push token.
    var auditDetail: JSONObject {
        var detail = JSONObject()
        switch push {
        case .unchanged: break
        case .registered(let registration): detail["push"] = .string(registration.service.name)
        case .removed: detail["push"] = "none"
        }
        detail["device"] = device?.json
        detail["versions"] = versions.map { .array($0.map(JSONValue.integer)) }
        return detail
    }
}
