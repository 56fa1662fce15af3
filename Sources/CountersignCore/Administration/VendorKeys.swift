import CountersignWire

extension Set<Vendor> {
    /// Makes the keys that sign what these vendors' calls are answered with, if there are none.
    ///
    /// - Throws: ``StoreError``, or an error of making a key.
    func prepareKeys(by actor: Actor, ports: Ports) async throws {
        if contains(.cotter) { try await PrepareTokenKeys.prepare([.cotter], by: actor, ports: ports) }
    }
}
