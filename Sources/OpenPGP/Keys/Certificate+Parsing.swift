import Encodings

extension Certificate {
    /// Reads a certificate and verifies every self-signature.
    ///
    /// The whole certificate is refused if a component has no valid self-signature, if a signing subkey has no back
    /// signature, or if a signature falsely names the holder as its signer. Certifications by others are skipped. Spec:
    /// RFC 9580 §10.1, §5.2.1.8, §5.2.1.9.
    public init(parsing bytes: some Collection<UInt8>) throws(OpenPGPError) {
        try self.init(reading: bytes, verifying: true)
    }

    /// Reads a certificate whose self-signatures were verified before, and that was stored since in a trusted place.
    ///
    /// It does the same as ``init(parsing:)``, except that it does not verify signatures.
    public init(previouslyVerified bytes: some Collection<UInt8>) throws(OpenPGPError) {
        try self.init(reading: bytes, verifying: false)
    }

    private init(reading bytes: some Collection<UInt8>, verifying: Bool) throws(OpenPGPError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        let encoded = Array(bytes)
        var packets = try Packet.sequence(encoded[...])[...]
        guard let first = packets.popFirst() else { throw .truncated }
        guard first.tag == .publicKey else { throw .unexpectedPacket(first.tag) }
        let primary = try PublicKey(parsing: first.body, tag: .publicKey)
        guard case .ecdsa = primary.material else { throw .wrongKeyFlags }

        var holder = Validity()
        var components = [try Self.component(.primary(primary), &packets, of: primary)]
        for signature in components[0].signatures {
            if verifying { try signature.verify(.key(primary), by: primary) }
            switch signature.type {
            case .keyRevocation: holder.revoke(signature)
            case .directKey: holder.take(signature, of: primary)
            default: throw .unexpectedSignatureType(signature.type.rawValue)
            }
        }
        var userIDs: [UserID] = []
        while packets.first?.tag == .userID {
            let userID = try UserID(parsing: packets.removeFirst())
            let component = try Self.component(.userID(userID.text), &packets, of: primary)
            userIDs.append(try Self.certified(userID, component.signatures, of: primary, &holder, verifying: verifying))
            components.append(component)
        }
        // gpg imports no certificate without a user ID, so this module makes and reads none.
        guard !userIDs.isEmpty else { throw .unboundComponent(.userID) }
        var subkeys: [CertifiedKey] = []
        while packets.first?.tag == .publicSubkey {
            let subkey = try PublicKey(parsing: packets.removeFirst().body, tag: .publicSubkey)
            let component = try Self.component(.subkey(subkey), &packets, of: primary)
            subkeys.append(try Self.bound(subkey, component.signatures, of: primary, holder, verifying: verifying))
            components.append(component)
        }
        if let next = packets.first { throw .unexpectedPacket(next.tag) }
        guard let certified = holder.key(primary) else { throw .unboundComponent(.userID) }
        self.init(encoded: encoded, primary: certified, userIDs: userIDs, subkeys: subkeys, components: components)
    }

    /// A component with the signatures that follow it; those by others are only counted.
    ///
    /// A signature of another algorithm cannot be the primary key's, whatever signer it names.
    private static func component(
        _ subject: Component.Subject, _ packets: inout ArraySlice<Packet>, of primary: PublicKey
    ) throws(OpenPGPError) -> Component {
        var signatures: [Signature] = []
        var foreign = 0
        while packets.first?.tag == .signature {
            let body = packets.removeFirst().body
            if Signature.mayBeECDSA(body), case let signature = try Signature(parsing: body), signature.names(primary) {
                signatures.append(signature)
            } else {
                foreign += 1
            }
        }
        return Component(subject, signatures: signatures, foreignSignatures: foreign)
    }

    /// A user ID with its certifications, which also make statements about the primary key.
    ///
    /// Spec: RFC 9580 §5.2.1.13: a certification may be revoked.
    private static func certified(
        _ userID: UserID, _ signatures: [Signature], of primary: PublicKey, _ holder: inout Validity, verifying: Bool
    ) throws(OpenPGPError) -> UserID {
        var isCertified = false
        var revokedAt: UnixSeconds?
        for signature in signatures {
            if verifying { try signature.verify(.userID(userID, of: primary), by: primary) }
            if signature.type.isCertification {
                isCertified = true
                holder.take(signature, of: primary)
            } else if signature.type == .certificationRevocation {
                revokedAt = min(revokedAt ?? signature.createdAt, signature.createdAt)
            } else {
                throw .unexpectedSignatureType(signature.type.rawValue)
            }
        }
        guard isCertified else { throw .unboundComponent(.userID) }
        return UserID(userID.text, revokedAt: revokedAt)
    }

    private static func bound(
        _ subkey: PublicKey, _ signatures: [Signature], of primary: PublicKey, _ holder: Validity, verifying: Bool
    ) throws(OpenPGPError) -> CertifiedKey {
        var validity = Validity()
        for signature in signatures {
            if verifying { try signature.verify(.subkey(subkey, of: primary), by: primary) }
            switch signature.type {
            case .subkeyBinding:
                if signature.subpackets.keyFlags?.isDisjoint(with: [.sign, .certify]) == false {
                    try checkBackSignature(in: signature, of: subkey, primary, verifying: verifying)
                }
                validity.take(signature, of: subkey)
            case .subkeyRevocation:
                validity.revoke(signature)
            default:
                throw .unexpectedSignatureType(signature.type.rawValue)
            }
        }
        guard let certified = validity.limited(by: holder).key(subkey) else { throw .unboundComponent(.publicSubkey) }
        return certified
    }

    /// Refuses a signing subkey that did not accept this primary key, because it could belong to another holder.
    ///
    /// Spec: RFC 9580 §5.2.1.9.
    private static func checkBackSignature(
        in binding: Signature, of subkey: PublicKey, _ primary: PublicKey, verifying: Bool
    ) throws(OpenPGPError) {
        guard let embedded = binding.subpackets.embeddedSignature else { throw .unboundComponent(.publicSubkey) }
        let signature = try Signature(parsing: embedded)
        guard signature.type == .primaryKeyBinding else {
            throw .unexpectedSignatureType(signature.type.rawValue)
        }
        if verifying { try signature.verify(.subkey(subkey, of: primary), by: subkey) }
    }
}

extension Certificate.UserID {
    fileprivate init(parsing packet: Packet) throws(OpenPGPError) {
        guard let text = String(strictUTF8: packet.body) else { throw .malformedPacket(.userID) }
        self.init(text)
    }
}
