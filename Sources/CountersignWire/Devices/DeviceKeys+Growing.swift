public import OpenPGP

extension DeviceKeys {
    /// A device's certificate grown by a change, and the key that is new.
    ///
    /// Nothing else may have changed: what the device sends is held against what is stored, key by key.
    ///
    /// - Parameters:
    ///   - stored: the certificate as the server has it.
    ///   - change: what the device signed.
    ///   - now: the latest time a key may be of, in seconds since 1970.
    /// - Throws: ``DeviceCertificateRefusal``.
    public static func grown(
        _ stored: Certificate, by change: MethodChange, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) -> (certificate: Certificate, new: CertifiedKey?) {
        let grown: Certificate
        do { grown = try stored.merged(with: Certificate(parsing: change.certificate)) } catch { throw .openPGP(error) }
        guard grown.userIDs == stored.userIDs else { throw .userID }
        let known = Set(stored.keys.map(\.fingerprint))
        let added = grown.keys.filter { !known.contains($0.fingerprint) }
        guard added.map(\.fingerprint) == [change.new].compactMap(\.self) else { throw .keys }
        for (before, after) in zip(stored.keys, grown.keys) {
            guard before.fingerprint == after.fingerprint, before.flags == after.flags,
                before.notations == after.notations
            else { throw .keys }
            guard before.expiresAt == after.expiresAt else { throw .time }
            if before.fingerprint == change.old {
                // Revoked from some time on: what it signed before stays good.
                guard before.revokedAt == nil, let end = after.revokedAt, end > 0, end <= now else { throw .time }
            } else {
                guard before.revokedAt == after.revokedAt else { throw .time }
            }
        }
        if let old = change.old, !known.contains(old) { throw .keys }
        if let new = added.first {
            guard new.flags == .sign, case .ecdsa = new.publicKey.material,
                new.notations == [change.method.notation(of: change.header.issuer)]
            else { throw .keys }
            guard new.expiresAt == nil, new.revokedAt == nil, new.publicKey.createdAt <= now else { throw .time }
        }
        return (grown, added.first)
    }
}
