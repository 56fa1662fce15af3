import CountersignWire
import OpenPGP

/// What never changes of a device that has called: whose it is, and the key that signs its requests.
///
/// It is kept in memory, so that a call can be verified without the database. A device whose key is kept may have been
/// removed since: whether it may call is read by every operation.
struct KnownDevice: Sendable {
    /// The device's user.
    let user: UserID
    /// The key that signs its requests.
    let key: CertifiedKey
}

extension Ports {
    /// The user and the key of a device, with the notice of its removal where the database was read and has one; nil if
    /// it is not known, or has no certificate.
    ///
    /// - Throws: ``StoreError``.
    func knownDevice(
        _ id: EnrollmentID
    ) async throws -> (device: KnownDevice, removal: RemovalNotice?)? {
        if let known = knownDevices[id] { return (known, nil) }
        guard let enrollment = try await store.read({ try $0.enrollments.find(id) }), let keys = enrollment.keys else {
            return nil
        }
        let device = KnownDevice(user: enrollment.user, key: keys.authentication)
        let removal = enrollment.state.removalNotice(of: id, issuer: issuer)
        if removal == nil { knownDevices.keep(device, as: id) }
        return (device, removal)
    }

    /// Why a read of an enrollment is refused, by its row; nil if it is not.
    ///
    /// A removed device is forgotten.
    func refusal(reading enrollment: Enrollment, evenSuspended isSuspendedToo: Bool = false) -> DeviceRefusal? {
        let refusal = enrollment.state.refusal(of: enrollment.id, evenSuspended: isSuspendedToo, issuer: issuer)
        if case .deregistered = refusal { knownDevices.forget(enrollment.id) }
        return refusal
    }
}
