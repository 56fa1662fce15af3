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
}

extension Ports {
    /// The user and the key of a device; nil if it is not known.
    ///
    /// - Throws: ``StoreError``.
    func knownDevice(_ id: EnrollmentID) async throws -> KnownDevices.Device? {
        if let known = knownDevices[id] { return known }
        guard let enrollment = try await store.read({ try $0.enrollments.find(id) }) else { return nil }
        let device = KnownDevices.Device(user: enrollment.user, key: enrollment.keys.authentication)
        knownDevices.keep(device, as: id)
        return device
    }
}
