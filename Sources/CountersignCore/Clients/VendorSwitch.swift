package import CountersignWire

/// Says whether there is anybody whom a vendor's calls are for.
///
/// Calls that name no client are answered as long as there is.
package enum VendorSwitch {
    /// Whether a client that is enabled may make a vendor's calls.
    ///
    /// - Throws: ``StoreError``.
    package static func isOn(_ vendor: Vendor, ports: Ports) async throws -> Bool {
        try await ports.store.read { try $0.clients.hasClient(of: vendor) }
    }
}
