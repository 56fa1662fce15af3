import Encodings

extension Certificate {
    /// Reads a certificate and verifies every self-signature.
    ///
    /// A component without a valid self-signature, a signing subkey without its back signature and a signature that
    /// pretends to be the holder's refuse the whole certificate. Certifications by others are skipped.
    /// Spec: RFC 9580 §10.1, §5.2.1.8, §5.2.1.9.
    public init(parsing bytes: some Collection<UInt8>) throws(OpenPGPError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        let encoded = Array(bytes)
        var packets = try Packet.sequence(encoded[...])[...]
        guard let first = packets.popFirst() else { throw .truncated }
        guard first.tag == .publicKey else { throw .unexpectedPacket(first.tag) }
        let primary = try PublicKey(parsing: first.body, tag: .publicKey)
        guard case .ecdsa = primary.material else { throw .wrongKeyFlags }

        var holder = Validity()
        for signature in try Self.ownSignatures(&packets, of: primary) {
            try signature.verify(.key(primary), by: primary)
            switch signature.type {
            case .keyRevocation: holder.revoke(signature)
            case .directKey: holder.take(signature, of: primary)
            default: throw .unexpectedSignatureType(signature.type.rawValue)
            }
        }
        var userIDs: [UserID] = []
        while packets.first?.tag == .userID {
            let userID = try UserID(parsing: packets.removeFirst())
            let certifications = try Self.ownSignatures(&packets, of: primary)
            guard !certifications.isEmpty else { throw .unboundComponent(.userID) }
            for signature in certifications {
                guard signature.type.isCertification else { throw .unexpectedSignatureType(signature.type.rawValue) }
                try signature.verify(.userID(userID, of: primary), by: primary)
                holder.take(signature, of: primary)
            }
            userIDs.append(userID)
        }
        guard !userIDs.isEmpty else { throw .unboundComponent(.userID) }
        var subkeys: [CertifiedKey] = []
        while packets.first?.tag == .publicSubkey {
            subkeys.append(try Self.subkey(&packets, of: primary, holder))
        }
        if let next = packets.first { throw .unexpectedPacket(next.tag) }
        self.init(encoded: encoded, primary: holder.key(primary), userIDs: userIDs, subkeys: subkeys)
    }

    /// The signatures that follow a component, those that name another signer left out.
    private static func ownSignatures(
        _ packets: inout ArraySlice<Packet>, of primary: PublicKey
    ) throws(OpenPGPError) -> [Signature] {
        var signatures: [Signature] = []
        while packets.first?.tag == .signature {
            let signature = try Signature(parsing: packets.removeFirst().body)
            if signature.names(primary) { signatures.append(signature) }
        }
        return signatures
    }

    private static func subkey(
        _ packets: inout ArraySlice<Packet>, of primary: PublicKey, _ holder: Validity
    ) throws(OpenPGPError) -> CertifiedKey {
        let subkey = try PublicKey(parsing: packets.removeFirst().body, tag: .publicSubkey)
        var validity = Validity()
        for signature in try ownSignatures(&packets, of: primary) {
            try signature.verify(.subkey(subkey, of: primary), by: primary)
            switch signature.type {
            case .subkeyBinding:
                if signature.subpackets.keyFlags?.isDisjoint(with: [.sign, .certify]) == false {
                    try checkBackSignature(in: signature, of: subkey, primary)
                }
                validity.take(signature, of: subkey)
            case .subkeyRevocation:
                validity.revoke(signature)
            default:
                throw .unexpectedSignatureType(signature.type.rawValue)
            }
        }
        guard validity.isBound else { throw .unboundComponent(.publicSubkey) }
        return validity.limited(by: holder).key(subkey)
    }

    /// Refuses a signing subkey that did not accept this primary key: it could be somebody else's.
    ///
    /// Spec: RFC 9580 §5.2.1.9.
    private static func checkBackSignature(
        in binding: Signature, of subkey: PublicKey, _ primary: PublicKey
    ) throws(OpenPGPError) {
        guard let embedded = binding.subpackets.embeddedSignature else { throw .unboundComponent(.publicSubkey) }
        let signature = try Signature(parsing: embedded)
        guard signature.type == .primaryKeyBinding else {
            throw .unexpectedSignatureType(signature.type.rawValue)
        }
        try signature.verify(.subkey(subkey, of: primary), by: subkey)
    }
}

extension Certificate.UserID {
    fileprivate init(parsing packet: Packet) throws(OpenPGPError) {
        guard let text = String(strictUTF8: packet.body) else { throw .malformedPacket(.userID) }
        self.init(text)
    }
}

/// What the self-signatures of a component say; the newest counts.
private struct Validity {
    private var newest: UnixSeconds?
    private var flags: KeyFlags = []
    private var notations: [Notation] = []
    private var expiresAt: UnixSeconds?
    private var revokedAt: UnixSeconds?

    var isBound: Bool { newest != nil }

    mutating func take(_ signature: Signature, of key: PublicKey) {
        if let newest, signature.createdAt < newest { return }
        newest = signature.createdAt
        flags = signature.subpackets.keyFlags ?? []
        notations = signature.subpackets.notations
        // What an expired signature says is no longer said: the key ends with whichever ends first.
        expiresAt = [
            Self.end(of: signature.subpackets.keyLifetime, from: key.createdAt),
            Self.end(of: signature.subpackets.lifetime, from: signature.createdAt),
        ].compactMap { $0 }.min()
    }

    /// Spec: RFC 9580 §5.2.3.13, §5.2.3.18: a lifetime of zero means never.
    private static func end(of lifetime: UInt32?, from start: UnixSeconds) -> UnixSeconds? {
        guard let lifetime, lifetime > 0 else { return nil }
        return UnixSeconds(clamping: UInt64(start) + UInt64(lifetime))
    }

    /// Spec: RFC 9580 §5.2.3.31: a revocation for a harmless reason leaves earlier signatures good.
    mutating func revoke(_ signature: Signature) {
        let reason = signature.subpackets.revocationReason ?? .unspecified
        let time = reason.keepsEarlierSignatures ? signature.createdAt : 0
        revokedAt = Swift.min(revokedAt ?? time, time)
    }

    /// A subkey lives no longer than its primary key.
    func limited(by holder: Validity) -> Validity {
        var limited = self
        limited.expiresAt = [expiresAt, holder.expiresAt].compactMap { $0 }.min()
        limited.revokedAt = [revokedAt, holder.revokedAt].compactMap { $0 }.min()
        return limited
    }

    func key(_ publicKey: PublicKey) -> CertifiedKey {
        CertifiedKey(
            previouslyCertified: publicKey, flags: flags, notations: notations, expiresAt: expiresAt,
            revokedAt: revokedAt)
    }
}
