import Encodings

/// What the self-signatures of a component state about its key, and when each statement begins to apply.
struct Validity {
    private var statements: [CertifiedKey.Statement] = []
    private var revokedAt: UnixSeconds?

    /// Adds a binding signature or a certification.
    mutating func take(_ signature: Signature, of key: PublicKey) {
        let subpackets = signature.subpackets
        // An expired signature states nothing any more: the key ends at the earlier of the two expiries.
        let expiresAt = [
            Self.end(of: subpackets.keyLifetime, from: key.createdAt),
            Self.end(of: subpackets.lifetime, from: signature.createdAt),
        ].compactMap { $0 }.min()
        let statement = CertifiedKey.Statement(
            since: signature.createdAt, flags: subpackets.keyFlags ?? [], notations: subpackets.notations,
            expiresAt: expiresAt)
        // Of two statements of the same time, the later one in the certificate counts.
        statements.insert(statement, at: statements.firstIndex { $0.since > statement.since } ?? statements.endIndex)
    }

    /// Spec: RFC 9580 §5.2.3.13, §5.2.3.18: a lifetime of zero means never.
    private static func end(of lifetime: UInt32?, from start: UnixSeconds) -> UnixSeconds? {
        guard let lifetime, lifetime > 0 else { return nil }
        return UnixSeconds(clamping: UInt64(start) + UInt64(lifetime))
    }

    /// Spec: RFC 9580 §5.2.3.31: a revocation for a harmless reason leaves earlier signatures valid.
    mutating func revoke(_ signature: Signature) {
        let reason = signature.subpackets.revocationReason ?? .unspecified
        let time = reason.keepsEarlierSignatures ? signature.createdAt : 0
        revokedAt = Swift.min(revokedAt ?? time, time)
    }

    /// The validity of a subkey, which never lives longer than its primary key.
    func limited(by holder: Validity) -> Validity {
        let changes = Set((statements + holder.statements).map(\.since)).sorted()
        var limited = Validity()
        limited.revokedAt = [revokedAt, holder.revokedAt].compactMap { $0 }.min()
        limited.statements = changes.compactMap { time in
            guard let own = statements.last(where: { $0.since <= time }) else { return nil }
            let limit = (holder.statements.last { $0.since <= time } ?? holder.statements.first)?.expiresAt
            return CertifiedKey.Statement(
                since: time, flags: own.flags, notations: own.notations,
                expiresAt: [own.expiresAt, limit].compactMap { $0 }.min())
        }
        return limited
    }

    /// The key with all statements about it; nil if there are none.
    func key(_ publicKey: PublicKey) -> CertifiedKey? {
        guard let last = statements.last else { return nil }
        return CertifiedKey(publicKey, earlier: statements.dropLast(), statement: last, revokedAt: revokedAt)
    }
}
