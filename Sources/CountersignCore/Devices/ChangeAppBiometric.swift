package import CountersignWire
package import Encodings

/// Sets, replaces and removes the key of a device with JWKs that the user's biometric unlocks.
///
/// Such a key answers without the one of possession, and the request proves neither. So setting it needs what enrolling a
/// device needs, a ticket, and it waits as a new device does. One that counted, and that a token ends, guards the user's
/// devices for that wait, as that of a removed device does.
///
/// Spec: docs/protocol/jwk-devices.md, *A biometric that is set later*.
package enum ChangeAppBiometric {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The key is set or removed, now or since before.
        case changed
        /// The device is suspended or removed.
        case refused(DeviceRefusal)
        /// The app has enrolled no such device of the user.
        case notFound
        /// The token does not manage devices.
        case scopeMissing
        /// The key is not acceptable beside that of possession.
        case keyInvalid(DeviceJWKRefusal)
        /// The key was enrolled before.
        case alreadyEnrolled
        /// The ticket is not good, or the client does not let the user enroll devices.
        case notAuthorized
    }

    /// Whether the device has this key for the biometric already: then there is nothing to set.
    ///
    /// - Throws: ``StoreError``.
    package static func isSet(
        _ key: JSONValue, of id: EnrollmentID, by owner: DeviceOwner, ports: Ports
    ) async throws -> Bool {
        guard let device = try await ports.store.read({ try $0.appDevice(id, of: owner) }), let keys = device.jwks,
            let wanted = try? keys.setting(userVerification: key)
        else { return false }
        return keys.json == wanted.json
    }

    /// Sets or replaces the key, which the ticket allows.
    ///
    /// - Parameters:
    ///   - key: the public key, a JWK.
    ///   - ticket: the secret of a ticket for the user.
    ///   - id: the enrollment.
    ///   - owner: who asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func set(
        _ key: JSONValue, with ticket: Secret<String>, of id: EnrollmentID, by owner: DeviceOwner, ports: Ports
    ) async throws -> Outcome {
        try await ports.commit(at: ports.time.now, as: .client(owner.client.id)) { work in
            try work.users.lock(owner.user)
            try work.enrollments.lock(id)
            guard let device = try work.stores.appDevice(id, of: owner), let current = device.jwks else {
                return .notFound
            }
            if let refusal = device.state.refusal(of: id, issuer: work.issuer) { return .refused(refusal) }
            let keys: DeviceJWKs
            do throws(DeviceJWKRefusal) {
                keys = try current.setting(userVerification: key)
            } catch {
                return .keyInvalid(error)
            }
            // The same call at the same time has set it, since this one has looked.
            if keys.json == current.json { return .changed }
            guard let added = keys.thumbprints.last else { return .notFound }
            // check: OktaUpdateTests.keyOnce
            guard try !work.enrollments.isEnrolled(thumbprint: added) else { return .alreadyEnrolled }
            guard case .ticket(let found) = try ChangeMethods.authority(ticket, for: device, in: work),
                try work.tickets.spend(found.hash, at: work.now)
            else { return .notAuthorized }
            if device.guards(at: work.now) { try work.leaveBehind(device) }
            let end = try work.trustState(of: owner.user, in: nil).waitEnds
            let countsFrom = found.waivesApproval ? work.now : end
            try work.enrollments.put(keys, adding: added, of: id, countsFrom: countsFrom)
            let until = device.hasCome(countsFrom, at: work.now) ? nil : countsFrom
            if let until {
                try work.waits.insert(.biometric, of: id, until: until)
            } else {
                try work.waits.delete(.biometric, of: id)
            }
            let change: MethodEvent.Change = device.biometric == nil ? .set : .replaced
            try work.raise(.methodChanged(MethodEvent(method: .biometric, change: change, until: until), of: device))
            return .changed
        }
    }

    /// Removes the key; whoever only manages devices may, since nothing more can be answered afterwards.
    ///
    /// - Throws: ``StoreError``.
    package static func remove(of id: EnrollmentID, by owner: DeviceOwner, ports: Ports) async throws -> Outcome {
        // check: OktaUpdateTests.scopes
        guard owner.mayManage else { return .scopeMissing }
        let now = ports.time.now
        return try await ports.commit(at: now, as: .client(owner.client.id)) { work in
            try work.users.lock(owner.user)
            try work.enrollments.lock(id)
            guard let device = try work.stores.appDevice(id, of: owner) else { return .notFound }
            if let refusal = device.state.refusal(of: id, issuer: work.issuer) { return .refused(refusal) }
            guard device.biometric != nil else { return .changed }
            if device.guards(at: now) { try work.leaveBehind(device) }
            try work.methods.put(nil, for: .biometric, of: id, certificate: nil, countsFrom: now)
            try work.waits.delete(.biometric, of: id)
            try work.raise(.methodChanged(MethodEvent(method: .biometric, change: .removed), of: device))
            return .changed
        }
    }
}
