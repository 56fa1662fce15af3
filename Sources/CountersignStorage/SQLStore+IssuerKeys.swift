public import CountersignCore
public import CountersignWire

/// The issuer's own keys, sealed under the master key.
extension SQLStore {
    /// The keys, made at the first start.
    ///
    /// Of two first starts at once, both get those that were stored first.
    public func issuerKeys(at now: Timestamp, random: any RandomSource) async throws -> IssuerKeyMaterial {
        let kept = try await reading { try $0.keptIssuerKeys() }
        if let kept, !kept.kept.isEmpty { return kept }
        let made = kept == nil ? try await IssuerKeyMaterial.make(issuer: issuer, at: now, random: random) : nil
        return try await committing { transaction in
            if let made { try transaction.insert(made) }
            try transaction.moveIssuerKeys { IssuerKeyID(at: $0, random: random.bytes(10)) }
            return try transaction.issuerKeys()
        }
    }
}
