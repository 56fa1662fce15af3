public import OpenPGP

extension DeviceKeys {
    /// The certificate with which a device enrolls, in the form in which it is stored, and its keys.
    ///
    /// - Parameters:
    ///   - bytes: the certificate from the device.
    ///   - userID: the one user ID that it must have.
    ///   - now: the latest time that anything in it may be dated, in seconds since 1970.
    /// - Throws: ``DeviceCertificateRefusal``.
    public static func enrolling(
        _ bytes: [UInt8], userID: String, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) -> (certificate: Certificate, keys: DeviceKeys) {
        let certificate = try canonical(bytes)
        let keys = try DeviceKeys(of: certificate, userID: userID, now: now)
        try DeviceCertificateForm.check(certificate, atMost: DeviceCertificateForm.sizeAtEnrollment, latest: now)
        return (certificate, keys)
    }

    /// A certificate in the form in which it is stored; it is refused if it has signatures by others, which that form
    /// leaves out.
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

    /// The stored certificate with the additions of a change, and the new key.
    ///
    /// Nothing that is stored changes. From the device's certificate, the new key with its binding and the revocation
    /// of the old key are added. A repeat of a stored binding is left out; anything else refuses the certificate.
    ///
    /// - Parameters:
    ///   - stored: the certificate that the server has.
    ///   - change: the certificate that the device signed.
    ///   - now: the latest time that a key may be dated, in seconds since 1970.
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

    /// Refuses a revocation unless it begins at about the current time, so that the key's earlier signatures stay
    /// valid.
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

    /// Adds the revocation of the replaced key, and leaves out repeats of existing statements.
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
    /// Whether both bind a key in the same way, perhaps at different times.
    fileprivate func states(theSameAs other: Signature) -> Bool {
        isStatement && type == other.type && subpackets.keyFlags == other.subpackets.keyFlags
            && subpackets.notations == other.subpackets.notations
            && subpackets.keyLifetime == other.subpackets.keyLifetime
            && subpackets.lifetime == other.subpackets.lifetime
    }
}
