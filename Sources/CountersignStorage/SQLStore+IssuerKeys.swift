package import CountersignCore
package import CountersignWire

/// The issuer's own keys, sealed under the master key.
extension SQLStore {
    /// The keys, made at the first start.
    ///
    /// Of two first starts at once, both get those that were stored first.
    package func issuerKeys(at now: Timestamp, random: any RandomSource) async throws -> IssuerKeyMaterial {
        if let kept = try await reading({ try $0.keptIssuerKeys() }) { return kept }
        let made = try await IssuerKeyMaterial.make(issuer: issuer, at: now, random: random)
        return try await committing { transaction in
            try transaction.insert(made)
            return try transaction.issuerKeys()
        }
    }
}
