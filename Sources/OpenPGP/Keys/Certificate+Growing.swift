import Encodings

/// A certificate only grows: further signatures revoke or replace what was published before.
extension Certificate {
    /// The certificate with one more subkey.
    ///
    /// - Parameters:
    ///   - subkey: the subkey.
    ///   - expiresAt: when the subkey expires; nil for the primary key's expiry.
    ///   - primary: the primary key.
    ///   - time: when it is bound.
    /// - Throws: ``OpenPGPError`` or the errors of the private keys.
    public func adding(
        _ subkey: NewSubkey, expiresAt: UnixSeconds? = nil, by primary: SigningKeyPair, at time: UnixSeconds
    ) async throws -> Certificate {
        try check(primary)
        let (publicKey, binding) = try await Self.binding(of: subkey, to: primary, expiresAt: expiresAt, at: time)
        var parts = try CertificateParts(self)
        parts.append(.publicSubkey, publicKey.body, signedBy: binding)
        return try Certificate(parsing: parts.encoded)
    }

    /// The certificate with one of its keys revoked.
    ///
    /// A revocation for ``RevocationReason/superseded`` or ``RevocationReason/retired`` leaves earlier signatures
    /// valid; a revocation for any other reason makes all signatures of the key invalid. Spec: RFC 9580 §5.2.1.11,
    /// §5.2.1.12, §5.2.3.31.
    ///
    /// - Parameters:
    ///   - key: the fingerprint of a subkey, or of the primary key to revoke the whole certificate.
    ///   - reason: the reason.
    ///   - note: an explanation for people.
    ///   - primary: the primary key.
    ///   - time: when the revocation takes effect.
    /// - Throws: ``OpenPGPError`` or the errors of the private key.
    public func revoking(
        _ key: Fingerprint, because reason: RevocationReason, note: String = "", by primary: SigningKeyPair,
        at time: UnixSeconds
    ) async throws -> Certificate {
        try check(primary)
        guard let revoked = keys.first(where: { $0.fingerprint == key })?.publicKey else {
            throw OpenPGPError.noUsableKey
        }
        let isPrimary = key == fingerprint
        let revocation = try await Signature.make(
            isPrimary ? .keyRevocation : .subkeyRevocation,
            over: isPrimary ? .key(revoked) : .subkey(revoked, of: primary.publicKey), by: primary, at: time
        ) {
            $0.revocationReason = reason
            $0.revocationNote = note
        }
        var parts = try CertificateParts(self)
        parts.append(revocation, to: revoked.body)
        return try Certificate(parsing: parts.encoded)
    }

    /// The certificate with a new expiry.
    ///
    /// Signatures made after the old expiry and before this renewal stay refused: the key was expired then.
    ///
    /// - Parameters:
    ///   - expiresAt: when the primary key, and with it every subkey, expires; nil for never.
    ///   - primary: the primary key.
    ///   - time: when the renewal is made.
    /// - Throws: ``OpenPGPError`` or the errors of the private key.
    public func renewed(
        until expiresAt: UnixSeconds?, by primary: SigningKeyPair, at time: UnixSeconds
    ) async throws -> Certificate {
        try check(primary)
        var parts = try CertificateParts(self)
        for userID in userIDs where userID.revokedAt == nil {
            let certification = try await Self.certification(
                of: userID, flags: self.primary.flags, expiresAt: expiresAt, by: primary, at: time)
            parts.append(certification, to: userID.bytes)
        }
        return try Certificate(parsing: parts.encoded)
    }

    /// The certificate with everything that another copy of it has in addition.
    ///
    /// Throws ``OpenPGPError/differentCertificate`` for another primary key.
    public func merged(with other: Certificate) throws(OpenPGPError) -> Certificate {
        guard other.fingerprint == fingerprint else { throw .differentCertificate }
        var parts = try CertificateParts(self)
        for part in try CertificateParts(other).parts { parts.take(in: part) }
        return try Certificate(parsing: parts.encoded)
    }

    private func check(_ primary: SigningKeyPair) throws(OpenPGPError) {
        guard primary.publicKey.fingerprint == fingerprint else { throw .differentCertificate }
    }
}
