import Encodings

extension Certificate {
    /// A subkey for a new certificate.
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
    ///   - flags: the permitted uses of the primary key itself.
    ///   - userID: the one user ID.
    ///   - subkeys: the subkeys.
    ///   - expiresAt: when the certificate expires; nil for never.
    ///   - time: when the signatures are made.
    /// - Throws: the errors of the private keys.
    public static func make(
        primary: SigningKeyPair, flags: KeyFlags, userID: String, subkeys: [NewSubkey], expiresAt: UnixSeconds? = nil,
        at time: UnixSeconds
    ) async throws -> Certificate {
        let userID = UserID(userID)
        var parts = CertificateParts(primary.publicKey)
        let certification = try await certification(
            of: userID, flags: flags, expiresAt: expiresAt, by: primary, at: time)
        parts.append(.userID, userID.bytes, signedBy: certification)
        for subkey in subkeys {
            let (publicKey, binding) = try await binding(of: subkey, to: primary, expiresAt: nil, at: time)
            parts.append(.publicSubkey, publicKey.body, signedBy: binding)
        }
        return try Certificate(parsing: parts.encoded)
    }

    static func certification(
        of userID: UserID, flags: KeyFlags, expiresAt: UnixSeconds?, by primary: SigningKeyPair, at time: UnixSeconds
    ) async throws -> Signature {
        let keyLifetime = try lifetime(of: primary.publicKey, until: expiresAt)
        return try await Signature.make(
            .positiveCertification, over: .userID(userID, of: primary.publicKey), by: primary, at: time
        ) {
            $0.keyFlags = flags
            $0.keyLifetime = keyLifetime
            $0.statesPreferences = true
        }
    }

    /// The seconds from a key's making to its expiry, which must be later: zero would mean never.
    static func lifetime(of key: PublicKey, until end: UnixSeconds?) throws(OpenPGPError) -> UInt32? {
        guard let end else { return nil }
        guard end > key.createdAt else { throw .keyExpired }
        return end - key.createdAt
    }

    static func binding(
        of subkey: NewSubkey, to primary: SigningKeyPair, expiresAt: UnixSeconds?, at time: UnixSeconds
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
        let keyLifetime = try lifetime(of: publicKey, until: expiresAt)
        let binding = try await Signature.make(
            .subkeyBinding, over: .subkey(publicKey, of: primary.publicKey), by: primary, at: time
        ) {
            $0.keyFlags = flags
            $0.keyLifetime = keyLifetime
            $0.notations = notations
            $0.embeddedSignature = backSignature?.body
        }
        return (publicKey, binding)
    }
}
