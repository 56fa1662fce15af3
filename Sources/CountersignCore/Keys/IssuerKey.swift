package import CountersignWire
package import Crypto
package import Encodings
import JOSE
package import OpenPGP

/// The use of one of the issuer's keys.
package enum KeyUse: String, CaseIterable, Sendable {
    /// The OpenPGP subkey that signs challenges and notices.
    case signing = "openpgp-signing"
    /// The OpenPGP subkey that decrypts the messages of devices.
    case encryption = "openpgp-encryption"
    /// The key that signs push envelopes.
    case push
    /// The key that signs access tokens, and ID tokens by ES256.
    case token = "token-es256"
    /// The key that signs ID tokens by RS256, for clients whose libraries expect that.
    case tokenRS256 = "token-rs256"
    /// The key that signs identities and events for apps and servers that were written for Cotter.
    case cotter = "cotter-ed25519"

    /// The name of the key's algorithm in lists.
    package var algorithm: String {
        switch self {
        case .signing, .push, .token: "ecdsa-p256"
        case .encryption: "ecdh-p256"
        case .tokenRS256: "rsa-2048"
        case .cotter: "ed25519"
        }
    }

    /// The uses whose keys every deployment has from its first start.
    ///
    /// The others are made when the first client is registered that needs them; see ``PrepareTokenKeys``.
    package static let fromStart: [KeyUse] = [.signing, .encryption, .push]

    /// Whether the key is a subkey of the issuer's certificate.
    var isSubkey: Bool {
        switch self {
        case .signing, .encryption: true
        case .push, .token, .tokenRS256, .cotter: false
        }
    }
}

/// One of the issuer's keys that rotate, as it is stored.
///
/// Spec: docs/decisions/0064-keys-that-rotate.md.
package struct IssuerKey: Sendable {
    /// The stage of a key's life.
    package enum State: String, Sendable {
        /// It is not used yet; until it is, every server reads it, and a key that will sign is published.
        case next
        /// It is in use.
        case current
        /// Another key has taken its place; its signatures, and messages sealed to it, are still accepted for a while.
        case retired
    }

    /// Its name in lists and in the audit.
    package let id: IssuerKeyID
    /// Its use.
    package let use: KeyUse
    /// The stage of its life.
    package internal(set) var state: State
    /// When it was made; the OpenPGP fingerprint covers this time in whole seconds.
    package let createdAt: Timestamp
    /// When a next key becomes current, or a retired key is deleted; nil for a current key.
    package internal(set) var changesAt: Timestamp?
    /// Whether somebody else may have the private half; then nothing is accepted from the key once it is retired.
    package internal(set) var isCompromised: Bool
    /// The private half: the scalar or the seed of 32 bytes, or an RSA key in DER.
    package let secret: Secret<[UInt8]>

    /// A key of these parts.
    package init(
        id: IssuerKeyID, use: KeyUse, state: State, createdAt: Timestamp, changesAt: Timestamp?, isCompromised: Bool,
        secret: Secret<[UInt8]>
    ) {
        self.id = id
        self.use = use
        self.state = state
        self.createdAt = createdAt
        self.changesAt = changesAt
        self.isCompromised = isCompromised
        self.secret = secret
    }

    /// A new key, made now; an RSA key comes from its source.
    ///
    /// - Throws: an error if no RSA key can be made.
    static func make(
        _ use: KeyUse, _ state: State, id: IssuerKeyID, at now: Timestamp, changesAt: Timestamp? = nil,
        rsaKeys: any RSAKeySource
    ) throws -> IssuerKey {
        let secret =
            switch use {
            case .tokenRS256: try rsaKeys.makeKey().derRepresentation
            case .cotter: Secret(Array(Curve25519.Signing.PrivateKey().rawRepresentation))
            case .signing, .encryption, .push, .token: Secret(Array(P256.Signing.PrivateKey().rawRepresentation))
            }
        return IssuerKey(
            id: id, use: use, state: state, createdAt: now, changesAt: changesAt, isCompromised: false, secret: secret)
    }

    /// The name by which others know the key: the fingerprint of a subkey, or the JWK thumbprint of any other key.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` if ``secret`` is not a private key.
    package func publicName() throws -> String {
        if let fingerprint = try fingerprint() { return "\(fingerprint)" }
        return try privateJWK().keyID
    }

    /// The fingerprint of a subkey; nil for any other key.
    func fingerprint() throws -> Fingerprint? {
        switch use {
        case .signing: try signingPair().publicKey.fingerprint
        case .encryption: try decryptionPair().publicKey.fingerprint
        case .push, .token, .tokenRS256, .cotter: nil
        }
    }

    func signingPair() throws -> SigningKeyPair {
        let key = try read { try P256.Signing.PrivateKey(rawRepresentation: $0) }
        return SigningKeyPair(key, createdAt: createdAt.unixSeconds)
    }

    func decryptionPair() throws -> DecryptionKeyPair {
        let key = try read { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        return DecryptionKeyPair(key, createdAt: createdAt.unixSeconds)
    }

    func pushKey() throws -> P256.Signing.PrivateKey { try read { try P256.Signing.PrivateKey(rawRepresentation: $0) } }

    /// The key as one that signs JWS, named by its thumbprint.
    func privateJWK() throws -> PrivateJWK {
        switch use {
        case .tokenRS256: PrivateJWK(try read { try RSAPrivateKey(derRepresentation: Secret($0)) })
        case .cotter: PrivateJWK(try read { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) })
        case .signing, .encryption, .push, .token: PrivateJWK(try pushKey())
        }
    }

    /// The key as a subkey of the issuer's certificate; nil for a key that is not in the certificate.
    func subkey() throws -> Certificate.NewSubkey? {
        switch use {
        case .signing: .signing(try signingPair())
        case .encryption: .encryption(try decryptionPair().publicKey)
        case .push, .token, .tokenRS256, .cotter: nil
        }
    }

    private func read<Key>(_ make: ([UInt8]) throws -> Key) throws -> Key {
        do { return try make(secret.reveal()) } catch { throw StoreError.corruptRow("signing key \(id)") }
    }
}

/// All of the issuer's keys, with their private halves, and the issuer's certificate.
///
/// The store seals the private halves.
package struct IssuerKeyMaterial: Sendable {
    /// When the primary key was made, in seconds since 1970.
    package let createdAt: UnixSeconds
    /// The primary key, which only certifies.
    package let primary: P256.Signing.PrivateKey
    /// The certificate that is published.
    package internal(set) var certificate: Certificate
    /// The keys that rotate, by their use, oldest first.
    package internal(set) var kept: [IssuerKey]

    /// Material of these parts.
    package init(
        createdAt: UnixSeconds, primary: P256.Signing.PrivateKey, certificate: Certificate, kept: [IssuerKey]
    ) {
        self.createdAt = createdAt
        self.primary = primary
        self.certificate = certificate
        self.kept = kept
    }

    /// Makes new keys, and a certificate that contains the OpenPGP keys.
    ///
    /// - Parameters:
    ///   - issuer: the issuer, whose host is in the user ID of the certificate.
    ///   - now: the current time.
    ///   - random: makes the ids of the keys.
    package static func make(
        issuer: Issuer, at now: Timestamp, random: any RandomSource
    ) async throws -> IssuerKeyMaterial {
        let primary = P256.Signing.PrivateKey()
        let kept = try KeyUse.fromStart.map {
            try IssuerKey.make($0, .current, id: random.id(at: now), at: now, rsaKeys: NewRSAKeys())
        }
        let certificate = try await Certificate.make(
            primary: SigningKeyPair(primary, createdAt: now.unixSeconds), flags: .certify,
            userID: "Countersign <countersign@\(issuer.host)>", subkeys: try kept.compactMap { try $0.subkey() },
            at: now.unixSeconds)
        return IssuerKeyMaterial(
            createdAt: now.unixSeconds, primary: primary, certificate: certificate, kept: kept)
    }

    /// The primary key as the one that certifies subkeys.
    var certifier: SigningKeyPair { SigningKeyPair(primary, createdAt: createdAt) }

    /// The newest key of a use that is in a state; nil if there is none.
    func key(_ use: KeyUse, _ state: IssuerKey.State) -> IssuerKey? {
        kept.last { $0.use == use && $0.state == state }
    }

    /// The keys that sign tokens, with the public halves of all their stages.
    private func tokenKeys() throws -> TokenKeys {
        func current(_ use: KeyUse) throws -> PrivateJWK? { try key(use, .current)?.privateJWK() }
        func published(_ uses: Set<KeyUse>) throws -> JWKSet {
            JWKSet(try kept.filter { uses.contains($0.use) }.map { try $0.privateJWK().publicKey })
        }
        return TokenKeys(
            es256: try current(.token), rs256: try current(.tokenRS256), cotter: try current(.cotter),
            published: try published([.token, .tokenRS256]), publishedForCotter: try published([.cotter]))
    }

    /// The keys in the form for daily use, without the primary key.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` if a use has no current key, or a private half is invalid.
    package var keys: IssuerKeys {
        get throws {
            func current(_ use: KeyUse) throws -> IssuerKey {
                guard let key = key(use, .current) else { throw StoreError.corruptRow("no \(use.rawValue) key") }
                return key
            }
            let decrypting = try current(.encryption)
            let others = kept.filter { $0.use == .encryption && $0.id != decrypting.id }
            let published = kept.filter { $0.use == .push }
            return IssuerKeys(
                certificate: certificate, signing: try current(.signing).signingPair(),
                decryption: try ([decrypting] + others).map { try $0.decryptionPair() },
                push: try current(.push).pushKey(),
                pushKeys: JWKSet(try published.map { JWK(try $0.pushKey().publicKey) }), tokens: try tokenKeys())
        }
    }
}
