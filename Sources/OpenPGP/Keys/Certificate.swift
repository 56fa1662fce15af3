import Encodings

/// A transferable public key whose self-signatures were all verified.
///
/// Spec: RFC 9580 §10.1.
public struct Certificate: Sendable {
    /// The most bytes a certificate may have.
    public static let maximumSize = 64 * 1024

    /// The certificate as it was read or made, packet for packet.
    public let encoded: [UInt8]
    /// The primary key.
    public let primary: CertifiedKey
    /// The user IDs, each certified by the primary key.
    public let userIDs: [UserID]
    /// The subkeys, each bound by the primary key.
    public let subkeys: [CertifiedKey]
    /// The components in order: the primary key, the user IDs, the subkeys.
    public let components: [Component]

    init(
        encoded: [UInt8], primary: CertifiedKey, userIDs: [UserID], subkeys: [CertifiedKey],
        components: [Component] = []
    ) {
        self.encoded = encoded
        self.primary = primary
        self.userIDs = userIDs
        self.subkeys = subkeys
        self.components = components
    }

    /// The fingerprint of the primary key.
    public var fingerprint: Fingerprint { primary.fingerprint }

    /// The primary key and the subkeys.
    public var keys: [CertifiedKey] { [primary] + subkeys }

    /// The newest key that may be used for all of `flags` at a given time.
    public func key(for flags: KeyFlags, at time: UnixSeconds) throws(OpenPGPError) -> CertifiedKey {
        let usable = keys.filter { key in
            (try? key.check(flags, at: time)) != nil && key.publicKey.createdAt <= time
        }
        guard let newest = usable.max(by: { $0.publicKey.createdAt < $1.publicKey.createdAt }) else {
            throw .noUsableKey
        }
        return newest
    }

    /// The certificate in armor, in the format that gpg exports and imports.
    public var armored: String { Armor.encode(encoded, as: .publicKey) }

    /// Reads an armored certificate.
    public init(armored text: some StringProtocol) throws(OpenPGPError) {
        try self.init(parsing: try Armor.decode(text, as: .publicKey))
    }
}

extension Certificate {
    /// A user ID packet: a text that names the key's holder.
    ///
    /// Spec: RFC 9580 §5.11.
    public struct UserID: Hashable, Sendable {
        /// The text.
        public let text: String
        /// When its holder revoked it; nil for never.
        public let revokedAt: UnixSeconds?
        var bytes: [UInt8] { Array(text.utf8) }

        init(_ text: String, revokedAt: UnixSeconds? = nil) {
            self.text = text
            self.revokedAt = revokedAt
        }
    }
}
