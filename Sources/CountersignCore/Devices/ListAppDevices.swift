import CountersignWire

/// Lists the devices with JWKs that one client's app has enrolled for a user.
///
/// A device that manages itself learns of itself alone.
package enum ListAppDevices {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The devices that are not removed, oldest first.
        case devices([Enrollment])
    }

    /// Lists them.
    ///
    /// - Throws: ``StoreError``.
    package static func list(of owner: DeviceOwner, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            let all = try reader.enrollments.all(of: owner.user)
            return .devices(
                all.filter {
                    $0.isPresent && $0.client == owner.client.id && $0.jwks?.form == .jwt && owner.maySee($0.id)
                })
        }
    }
}
