package import CountersignCore
package import CountersignWire

/// The issuer's own keys, sealed.
extension SQLStore {
    /// Reads the keys, and creates them at the first start.
    ///
    /// When two servers start for the first time at once, both get the keys that were stored first.
    package func issuerKeys(at now: Timestamp, random: any RandomSource) async throws -> IssuerKeyMaterial {
        if let kept = try await reading({ try $0.keptIssuerKeys() }) { return kept }
        let made = try await IssuerKeyMaterial.make(issuer: issuer, at: now, random: random)
        return try await committing { transaction in
            try transaction.insert(made)
            return try transaction.issuerKeys()
        }
    }
}
