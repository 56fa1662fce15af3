package import CountersignCore

/// The keys of the database, which other servers and commands may change.
extension SQLStore {
    /// The key from which hashing keys and keys for other purposes are derived.
    package var dataKey: DataKey { held.dataKey }

    /// The issuer's own keys, as ``refreshKeys(masterKey:)`` last read them.
    package var issuerKeySource: any IssuerKeySource { held }

    /// Reads all keys again.
    ///
    /// - Parameter masterKey: reads the master key from where it is kept, in case the current one no longer opens the
    ///   database; nil if there is no other.
    /// - Throws: ``StoreError``, and any error of `masterKey`.
    package func refreshKeys(masterKey: (() throws -> MasterKey)? = nil) async throws {
        var key = held.masterKey
        if let masterKey, try await !masterKeys().contains(key.id) { key = try masterKey() }
        try await held.refresh(by: key, read)
    }

    /// Checks whether the keys are recent enough to be used.
    ///
    /// - Throws: ``StoreError/unavailable`` when they are too old.
    package func checkKeys() throws(StoreError) { _ = try held.sealer() }

    /// From now on, keys that were not read again for a minute are no longer used.
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
