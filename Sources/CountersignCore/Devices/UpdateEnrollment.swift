package import CountersignWire
import Encodings

/// Changes what a device says of itself, and where it is reached by push notifications.
///
/// Spec: design 4.
package enum UpdateEnrollment {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment as it is now.
        case updated(Enrollment)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// Another enrollment of the user is reached by the same token.
        case pushTokenInUse
    }

    /// Carries out an update of the calling device.
    package static func update(
        _ update: EnrollmentUpdate, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let id = call.enrollment.id
        return try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .refused(refusal) }
            switch update.push {
            case .unchanged: break
            case .registered(let registration):
                guard try !work.stores.isTaken(registration, besides: id, of: call.enrollment.user) else {
                    return .pushTokenInUse
                }
                try work.pushes.put(registration, of: id, at: now)
            case .removed: try work.pushes.delete(of: id)
            }
            if let labels = update.device {
                let storage = call.enrollment.device.storage
                try work.enrollments.put(DeviceDescription(labels: labels, storage: storage), of: id)
            }
            if let versions = update.versions { try work.enrollments.put(versions, of: id) }
            guard let enrollment = try work.enrollments.find(id) else { throw StoreError.corruptRow("enrollment") }
            try work.raise(.enrollmentUpdated(enrollment, update))
            return .updated(enrollment)
        }
    }
}

extension Stores {
    /// Whether another enrollment of a user is reached by the same token.
    ///
    /// A token is one app's on one device, which may have several users, but each of them once: two enrollments of one
    /// user are what is left of an earlier one, or somebody who would have this one's pushes.
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
    /// What changed, without the token.
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
