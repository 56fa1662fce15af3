import CountersignWire

/// Makes the keys that sign tokens, and what else only some clients need, if there are none.
///
/// They are made when the first client needs them, and are used at once: no relying party can know an older key.
enum PrepareTokenKeys {
    /// Makes the keys for these uses that do not exist.
    ///
    /// - Throws: ``StoreError``, or an error of making a key.
    static func prepare(_ uses: Set<KeyUse>, by actor: Actor, ports: Ports) async throws {
        @Sendable func missing(_ material: IssuerKeyMaterial) -> [KeyUse] {
            uses.filter { use in !material.kept.contains { $0.use == use } }.sorted { $0.rawValue < $1.rawValue }
        }
        let now = ports.time.now
        let needed = missing(try await ports.store.read { try $0.keys.issuerKeys() })
        guard !needed.isEmpty else { return }
        // Outside the transaction, since an RSA key takes long to make.
        let made = try needed.map { use in
            try IssuerKey.make(use, .current, id: ports.random.id(at: now), at: now, rsaKeys: ports.rsaKeys)
        }
        try await ports.commit(at: now, as: actor) { work in
            let material = try work.keys.issuerKeys()
            // Another server may make them at the same time.
            guard try work.keys.replaceCertificate(material.certificate, by: nil) else {
                throw StoreError.serializationFailure
            }
            let stillMissing = missing(try work.keys.issuerKeys())
            let keys = made.filter { stillMissing.contains($0.use) }
            guard !keys.isEmpty else { return }
            for key in keys { try work.keys.put(key) }
            try work.raise(.issuerKeysChanged(keys, ended: []))
        }
    }
}
