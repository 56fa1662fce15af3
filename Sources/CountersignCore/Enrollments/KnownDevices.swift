import CountersignWire
import OpenPGP
import Synchronization

/// What never changes of the devices that have called: whose they are, and the keys that sign their requests.
///
/// It is kept in memory, so that a call can be verified without the database. A device whose key is kept may have been
/// removed since: whether it may call is read by every operation.
final class KnownDevices: Sendable {
    /// What is kept of a device.
    struct Device: Sendable {
        /// The device's user.
        let user: UserID
        /// The key that signs its requests.
        let key: CertifiedKey
    }

    private let limit: Int
    private let devices = Mutex<[EnrollmentID: Device]>([:])

    /// No devices yet.
    ///
    /// - Parameter limit: how many are kept.
    init(limit: Int = 32_768) {
        self.limit = limit
    }

    /// What is kept of a device; nil if nothing is.
    subscript(_ id: EnrollmentID) -> Device? { devices.withLock { $0[id] } }

    /// Keeps a device.
    func keep(_ device: Device, as id: EnrollmentID) {
        devices.withLock { devices in
            // Which one is dropped hardly matters, so any one is.
            if devices.count >= limit, let other = devices.keys.first { devices[other] = nil }
            devices[id] = device
        }
    }

    /// Forgets a device that was removed, so that its further calls are refused before they cost anything.
    func forget(_ id: EnrollmentID) {
        devices.withLock { $0[id] = nil }
    }
}

extension Ports {
    /// The user and the key of a device, with the notice of its removal where the database was read and has one; nil if
    /// it is not known.
    ///
    /// - Throws: ``StoreError``.
    func knownDevice(
        _ id: EnrollmentID
    ) async throws -> (device: KnownDevices.Device, removal: RemovalNotice?)? {
        if let known = knownDevices[id] { return (known, nil) }
        guard let enrollment = try await store.read({ try $0.enrollments.find(id) }) else { return nil }
        let device = KnownDevices.Device(user: enrollment.user, key: enrollment.keys.authentication)
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
