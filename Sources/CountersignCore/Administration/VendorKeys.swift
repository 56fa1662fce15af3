import CountersignWire

extension Set<Vendor> {
    /// Makes the keys that sign what these vendors' calls are answered with, if there are none.
    ///
    /// - Throws: ``StoreError``, or an error of making a key.
    func prepareKeys(by actor: Actor, ports: Ports) async throws {
        let uses = Set<KeyUse>(compactMap(\.key))
        guard !uses.isEmpty else { return }
        try await PrepareTokenKeys.prepare(uses, by: actor, ports: ports)
    }
}

extension Vendor {
    /// The key that signs what its devices, apps and servers verify; nil where they verify nothing of ours.
    fileprivate var key: KeyUse? {
        switch self {
        case .cotter: .cotter
        // Its devices verify RSA alone.
        case .okta: .tokenRS256
        case .oneWelcome: nil
        }
    }
}
