import Encodings

extension Certificate {
    /// A subkey to put into a new certificate.
    public enum NewSubkey: Sendable {
        /// Signs data; the subkey signs its acceptance of the primary key.
        case signing(SigningKeyPair, notations: [Notation] = [])
        /// Authenticates its holder.
        case authentication(SigningKeyPair)
        /// Decrypts.
        case encryption(PublicKey)
    }

    /// Makes a certificate: one user ID and the subkeys in order, all signed by the primary key.
    ///
    /// - Parameters:
    ///   - primary: the primary key.
    ///   - flags: what the primary key itself may be used for.
    ///   - userID: the one user ID.
    ///   - subkeys: the subkeys.
    ///   - time: when the signatures are made.
    /// - Throws: what the private keys throw.
    public static func make(
        primary: SigningKeyPair, flags: KeyFlags, userID: String, subkeys: [NewSubkey], at time: UnixSeconds
    ) async throws -> Certificate {
        let userID = UserID(userID)
        var encoded: [UInt8] = []
        encoded.append(packet: .publicKey, primary.publicKey.body)
        encoded.append(packet: .userID, userID.bytes)
        let certification = try await Signature.make(
            .positiveCertification, over: .userID(userID, of: primary.publicKey), by: primary, at: time
        ) {
            $0.keyFlags = flags
            $0.statesPreferences = true
        }
        encoded.append(packet: .signature, certification.body)
        for subkey in subkeys {
            let (publicKey, binding) = try await binding(of: subkey, to: primary, at: time)
            encoded.append(packet: .publicSubkey, publicKey.body)
            encoded.append(packet: .signature, binding.body)
        }
        return try Certificate(parsing: encoded)
    }

    private static func binding(
        of subkey: NewSubkey, to primary: SigningKeyPair, at time: UnixSeconds
    ) async throws -> (PublicKey, Signature) {
        let publicKey: PublicKey
        let flags: KeyFlags
        var notations: [Notation] = []
        var backSignature: Signature?
        switch subkey {
        case .signing(let key, let statements):
            publicKey = key.publicKey
            flags = .sign
            notations = statements
            backSignature = try await Signature.make(
                .primaryKeyBinding, over: .subkey(publicKey, of: primary.publicKey), by: key, at: time)
        case .authentication(let key):
            publicKey = key.publicKey
            flags = .authenticate
        case .encryption(let key):
            publicKey = key
            flags = .encrypt
        }
        let binding = try await Signature.make(
            .subkeyBinding, over: .subkey(publicKey, of: primary.publicKey), by: primary, at: time
        ) {
            $0.keyFlags = flags
            $0.notations = notations
            $0.embeddedSignature = backSignature?.body
        }
        return (publicKey, binding)
    }
}
