public import OpenPGP

extension DeviceKeys {
    /// The certificate that a device enrolls with, as it is to be kept, and its keys.
    ///
    /// - Parameters:
    ///   - bytes: the certificate as the device sends it.
    ///   - userID: the one user ID it must have.
    ///   - now: the latest time that anything in it may be of, in seconds since 1970.
    /// - Throws: ``DeviceCertificateRefusal``.
    public static func enrolling(
        _ bytes: [UInt8], userID: String, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) -> (certificate: Certificate, keys: DeviceKeys) {
        let certificate = try canonical(bytes)
        let keys = try DeviceKeys(of: certificate, userID: userID, now: now)
        try DeviceCertificateForm.check(certificate, atMost: DeviceCertificateForm.sizeAtEnrollment, latest: now)
        return (certificate, keys)
    }

    /// A certificate as it would be kept; what is left out of it then, signatures by others, refuses it.
    private static func canonical(_ bytes: [UInt8]) throws(DeviceCertificateRefusal) -> Certificate {
        do throws(OpenPGPError) {
            let sent = try Certificate(parsing: bytes)
            if sent.components.allSatisfy({ $0.foreignSignatures == 0 }) {
                return try Certificate.canonical(sent.components)
            }
        } catch {
            throw .openPGP(error)
        }
        throw .foreignSignature
    }

    /// A device's certificate grown by a change, and the key that is new.
    ///
    /// What is stored stays as it is. Of what the device sends, the new key with its binding and the revocation of the
    /// old one are taken, and what repeats a binding that is stored is left out; anything else refuses it.
    ///
    /// - Parameters:
    ///   - stored: the certificate as the server has it.
    ///   - change: what the device signed.
    ///   - now: the latest time a key may be of, in seconds since 1970.
    /// - Throws: ``DeviceCertificateRefusal``.
    public static func grown(
        _ stored: Certificate, by change: MethodChange, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) -> (certificate: Certificate, new: CertifiedKey?) {
        let sent = try canonical(change.certificate)
        guard sent.fingerprint == stored.fingerprint else { throw .openPGP(.differentCertificate) }
        var components = stored.components
        for component in sent.components {
            if let index = components.firstIndex(where: { $0.isSame(as: component) }) {
                try components[index].take(from: component, replaced: change.old)
            } else if let key = component.key, key.fingerprint == change.new {
                components.append(component)
            } else {
                throw component.key == nil ? .userID : .keys
            }
        }
        let grown: Certificate
        do { grown = try Certificate.canonical(components) } catch { throw .openPGP(error) }
        let added = grown.subkeys.dropFirst(stored.subkeys.count)
        guard added.map(\.fingerprint) == [change.new].compactMap(\.self) else { throw .keys }
        if let old = change.old { try check(old, in: grown, since: stored, now: now) }
        if let new = added.first {
            guard new.flags == .sign, case .ecdsa = new.publicKey.material,
                new.notations == [change.method.notation(of: change.header.issuer)]
            else { throw .keys }
            guard new.expiresAt == nil, new.revokedAt == nil, new.publicKey.createdAt <= now else { throw .time }
        }
        try DeviceCertificateForm.check(grown, atMost: DeviceCertificateForm.size, latest: now)
        return (grown, added.first)
    }

    /// Refuses unless a key is revoked from about now on: what it signed before stays good.
    private static func check(
        _ old: Fingerprint, in grown: Certificate, since stored: Certificate, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) {
        guard let before = stored.subkeys.first(where: { $0.fingerprint == old }),
            let after = grown.subkeys.first(where: { $0.fingerprint == old })
        else { throw .keys }
        let earliest = now - min(now, DeviceCertificateForm.longestChange)
        guard before.revokedAt == nil, let end = after.revokedAt, (earliest...now).contains(end) else { throw .time }
    }
}

extension Certificate.Component {
    fileprivate func isSame(as other: Certificate.Component) -> Bool {
        switch (subject, other.subject) {
        case (.primary(let own), .primary(let other)), (.subkey(let own), .subkey(let other)):
            own.fingerprint == other.fingerprint
        case (.userID(let own), .userID(let other)): own.utf8.elementsEqual(other.utf8)
        case (.primary, _), (.userID, _), (.subkey, _): false
        }
    }

    /// Takes the revocation of the replaced key; leaves out what repeats a statement that is there.
    fileprivate mutating func take(
        from sent: Certificate.Component, replaced: Fingerprint?
    ) throws(DeviceCertificateRefusal) {
        for signature in sent.signatures {
            if signatures.contains(where: { $0.isSame(as: signature) || $0.states(theSameAs: signature) }) { continue }
            guard signature.type == .subkeyRevocation, let replaced, key?.fingerprint == replaced else {
                throw .signatures
            }
            self = Certificate.Component(subject, signatures: signatures + [signature])
        }
    }
}

extension Signature {
    /// Whether both bind a key in the same way, if at different times.
    fileprivate func states(theSameAs other: Signature) -> Bool {
        isStatement && type == other.type && subpackets.keyFlags == other.subpackets.keyFlags
            && subpackets.notations == other.subpackets.notations
            && subpackets.keyLifetime == other.subpackets.keyLifetime
            && subpackets.lifetime == other.subpackets.lifetime
    }
}
