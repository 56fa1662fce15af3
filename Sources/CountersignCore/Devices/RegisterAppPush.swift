package import CountersignWire
package import Encodings

/// Changes where the pushes of a device with JWKs go.
package enum RegisterAppPush {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The pushes go to the new token.
        case registered
        /// The device is suspended or removed.
        case refused(DeviceRefusal)
        /// The app has enrolled no such device of the user.
        case notFound
        /// The token does not manage this device.
        case scopeMissing
        /// The push service has no such tokens, or the device has never said which app it is.
        case tokenInvalid
        /// Another enrollment of the user has the same push token.
        case pushTokenInUse
    }

    /// Registers a push token.
    ///
    /// - Parameters:
    ///   - token: the token of the push service; nil for no more pushes.
    ///   - id: the enrollment.
    ///   - owner: who asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func register(
        _ token: Secret<String>?, of id: EnrollmentID, by owner: DeviceOwner, ports: Ports
    ) async throws -> Outcome {
        // check: OktaUpdateTests.scopes
        guard owner.mayMaintain(id) else { return .scopeMissing }
        let now = ports.time.now
        return try await ports.commit(at: now, as: .client(owner.client.id)) { work in
            guard let device = try work.stores.appDevice(id, of: owner) else { return .notFound }
            if let refusal = try work.stores.refusal(of: id, issuer: work.issuer) { return .refused(refusal) }
            let update: EnrollmentUpdate
            if let token {
                guard let (service, app) = device.pushTarget,
                    let registration = PushRegistration(service: service, app: app, token: token)
                else { return .tokenInvalid }
                guard try !work.stores.isTaken(registration, besides: id, of: owner.user) else {
                    return .pushTokenInUse
                }
                try work.pushes.put(registration, of: id, at: now)
                update = EnrollmentUpdate(push: .registered(registration))
            } else {
                try work.pushes.delete(of: id)
                update = EnrollmentUpdate(push: .removed)
            }
            try work.raise(.enrollmentUpdated(device, update))
            return .registered
        }
    }
}

extension Enrollment {
    /// The service and the app of its push tokens: those of its registration or, if it has none, those that its labels name;
    /// nil if they name none.
    fileprivate var pushTarget: (service: PushService, app: AppID)? {
        if let push { return (push.service, push.app) }
        guard let app = device.labels.app?.text.split(separator: " ").first.flatMap({ AppID($0) }) else { return nil }
        let isAndroid = device.labels.system?.text.hasPrefix("Android") ?? false
        let service: PushService = isAndroid ? .fcm : .apns(.production)
        return (service, app)
    }
}
