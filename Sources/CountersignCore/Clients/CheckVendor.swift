package import CountersignWire

/// Says whether a vendor's calls that name no client are answered: where any client may make its calls.
///
/// Spec: docs/decisions/0105-vendors-doors.md.
package enum CheckVendor {
    /// Whether they are.
    ///
    /// - Throws: ``StoreError``.
    package static func isOn(_ vendor: Vendor, ports: Ports) async throws -> Bool {
        try await ports.store.read { try $0.clients.anyClient(hasVendor: vendor) }
    }
}
