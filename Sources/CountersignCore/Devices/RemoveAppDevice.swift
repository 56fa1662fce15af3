package import CountersignWire

/// Removes a device with JWKs for its user, in the app that has enrolled it.
package enum RemoveAppDevice {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The device is removed.
        case removed
        /// It was removed before.
        case goneBefore
        /// The app has enrolled no such device of the user.
        case notFound
        /// The token does not manage devices.
        case scopeMissing
    }

    /// Removes a device, suspended or not.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - owner: who asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func remove(_ id: EnrollmentID, by owner: DeviceOwner, ports: Ports) async throws -> Outcome {
        // check: OktaDeviceTests.scopes
        guard owner.mayManage else { return .scopeMissing }
        let now = ports.time.now
        return try await ports.commit(at: now, as: .client(owner.client.id)) { work in
            try work.users.lock(owner.user)
            guard try work.stores.appDevice(id, of: owner) != nil else { return .notFound }
            return try work.removeEnrollment(id, reason: .device) ? .removed : .goneBefore
        }
    }
}
