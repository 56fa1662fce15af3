public import CountersignWire
import Encodings

/// Changes what a device says of itself, and where it is reached by push notifications.
///
/// Spec: design 4.
public enum UpdateEnrollment {
    /// Carries out an update of the calling device.
    public static func update(
        _ update: EnrollmentUpdate, by call: DeviceCall, ports: Ports
    ) async throws -> Result<Enrollment, DeviceRefusal> {
        let now = ports.time.now
        let issuer = ports.issuer
        let id = call.enrollment.id
        let event = AuditEvent(
            id: ports.random.id(at: now), at: now, kind: .enrollmentUpdated, client: call.enrollment.client,
            user: call.enrollment.user, enrollment: id, detail: update.auditDetail)
        return try await ports.store.commit { writer in
            if let refusal = try writer.admit(call, issuer: issuer) { return .failure(refusal) }
            switch update.push {
            case .unchanged: break
            case .registered(let registration): try writer.put(registration, of: id, at: now)
            case .removed: try writer.removePush(of: id)
            }
            if let device = update.device { try writer.put(device, of: id) }
            try writer.append(event)
            guard let enrollment = try writer.enrollment(id) else { throw StoreError.corruptRow("enrollment") }
            return .success(enrollment)
        }
    }
}

extension EnrollmentUpdate {
    /// What changed, without the token.
    fileprivate var auditDetail: JSONObject {
        var detail = JSONObject()
        switch push {
        case .unchanged: break
        case .registered(let registration): detail["push"] = .string(registration.service.name)
        case .removed: detail["push"] = "none"
        }
        detail["device"] = device?.json
        return detail
    }
}
