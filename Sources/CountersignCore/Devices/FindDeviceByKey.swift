package import CountersignWire
import Encodings
package import JOSE

/// Finds a device that has JWKs by one of them.
package enum FindDeviceByKey {
    /// The device of a user that has a key and is not removed; nil if there is none.
    ///
    /// - Throws: ``StoreError``.
    package static func find(_ key: JWSPublicKey, of user: UserID, ports: Ports) async throws -> EnrollmentID? {
        try await ports.store.read { reader in
            guard let thumbprint = Base64URL.decode(key.thumbprint),
                let id = try reader.enrollments.find(thumbprint: thumbprint),
                let device = try reader.enrollments.find(id), device.user == user, device.isPresent
            else { return nil }
            return id
        }
    }
}
