package import CountersignWire
import Encodings
package import JOSE

/// Finds users and devices as apps name them that were written for Cotter.
package enum FindEventDevice {
    /// The user whom an app names; nil for nobody.
    ///
    /// - Throws: ``StoreError``.
    package static func user(called text: String, at client: ClientID, ports: Ports) async throws -> UserID? {
        try await ports.store.read { try $0.person(called: text, at: client, ports.hasher) }
    }

    /// The device of a user that has a key and is not removed; nil if there is none.
    ///
    /// - Throws: ``StoreError``.
    package static func device(with key: JWSPublicKey, of user: UserID, ports: Ports) async throws -> EnrollmentID? {
        try await ports.store.read { reader in
            guard let thumbprint = Base64URL.decode(key.thumbprint),
                let id = try reader.enrollments.find(thumbprint: thumbprint),
                let device = try reader.enrollments.find(id), device.user == user, device.isPresent
            else { return nil }
            return id
        }
    }
}
