package import CountersignCore

/// The keys that a store works with, which other servers and commands change.
extension SQLStore {
    /// What everything that is only compared is hashed under, and purposes of their own are derived from.
    package var dataKey: DataKey { held.dataKey }

    /// The issuer's own keys, as ``refreshKeys(masterKey:)`` read them last.
    package var issuerKeySource: any IssuerKeySource { held }

    /// Reads all keys again.
    ///
    /// - Parameter masterKey: reads the master key where it is kept, for a database that the one in use opens no more;
    ///   nil to know no other.
    /// - Throws: ``StoreError``, and what `masterKey` throws.
    package func refreshKeys(masterKey: (() throws -> MasterKey)? = nil) async throws {
        var key = held.masterKey
        if let masterKey, try await !masterKeys().contains(key.id) { key = try masterKey() }
        try await held.refresh(by: key, read)
    }

    /// Looks whether the keys may be used.
    ///
    /// - Throws: ``StoreError/unavailable`` when they are too old.
    package func checkKeys() throws(StoreError) { _ = try held.sealer() }

    /// Does nothing any more with keys that were not read again for a minute.
    package func letKeysAge() { held.startAging() }

    private func read(by masterKey: MasterKey) async throws -> (KeyRing, IssuerKeys?) {
        let (ring, material) = try await engine.read { connection in
            let ring = try KeyWraps.read(connection).opened(by: masterKey)
            let transaction = SQLTransaction(
                connection: connection, sealer: ring.sealer, issuer: issuer, parsed: parsed, locksRows: false)
            return (ring, try transaction.keptIssuerKeys())
        }
        return (ring, try material.map { try $0.keys })
    }
}
