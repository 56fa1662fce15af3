package import CountersignWire
package import Crypto
package import Encodings
import JOSE
package import OpenPGP

/// What one of the issuer's keys is for.
package enum KeyUse: String, CaseIterable, Sendable {
    /// The OpenPGP subkey that signs challenges and notices.
    case signing = "openpgp-signing"
    /// The OpenPGP subkey that opens what devices seal.
    case encryption = "openpgp-encryption"
    /// The key that signs push envelopes.
    case push

    /// The key's algorithm, as lists name it.
    package var algorithm: String {
        switch self {
        case .signing, .push: "ecdsa-p256"
        case .encryption: "ecdh-p256"
        }
    }
}

/// One of the issuer's keys that rotate, as it is kept.
///
/// Spec: design 2b §8.
package struct IssuerKey: Sendable {
    /// Where in its life a key is.
    package enum State: String, Sendable {
        /// It is held by every server, and published where it is to sign; it does nothing yet.
        case next
        /// It does the work.
        case current
        /// Another has taken its place; what it did is honoured for a while.
        case retired
    }

    /// Its name in lists and in the audit.
    package let id: IssuerKeyID
    /// What it is for.
    package let use: KeyUse
    /// Where in its life it is.
    package internal(set) var state: State
    /// When it was made; in whole seconds a part of its OpenPGP fingerprint.
    package let createdAt: Timestamp
    /// When the next step is due: a next key becomes current, a retired one ends; nil for a current one.
    package internal(set) var changesAt: Timestamp?
    /// Whether somebody else may have it: what it does is not honoured once another has taken its place.
    package internal(set) var isCompromised: Bool
    /// The private half: the scalar, 32 bytes.
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

    /// A new key, made now.
    static func make(
        _ use: KeyUse, _ state: State, id: IssuerKeyID, at now: Timestamp, changesAt: Timestamp? = nil
    ) -> IssuerKey {
        IssuerKey(
            id: id, use: use, state: state, createdAt: now, changesAt: changesAt, isCompromised: false,
            secret: Secret(Array(P256.Signing.PrivateKey().rawRepresentation)))
    }

    /// What others know it by: the fingerprint of a subkey, or the thumbprint that names a push key.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when the private half is none.
    package func publicName() throws -> String {
        if let fingerprint = try fingerprint() { return "\(fingerprint)" }
        return JWK(try pushKey().publicKey).thumbprint
    }

    /// The fingerprint of a subkey; nil for a push key.
    func fingerprint() throws -> Fingerprint? {
        switch use {
        case .signing: try signingPair().publicKey.fingerprint
        case .encryption: try decryptionPair().publicKey.fingerprint
        case .push: nil
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

    /// The subkey that it is in the issuer's certificate; nil for one that is not in it.
    func subkey() throws -> Certificate.NewSubkey? {
        switch use {
        case .signing: .signing(try signingPair())
        case .encryption: .encryption(try decryptionPair().publicKey)
        case .push: nil
        }
    }

    private func read<Key>(_ make: ([UInt8]) throws -> Key) throws -> Key {
        do { return try make(secret.reveal()) } catch { throw StoreError.corruptRow("signing key \(id)") }
    }
}

/// The issuer's keys, the way they are kept: sealed.
package struct IssuerKeyMaterial: Sendable {
    /// When the primary key was made, in seconds since 1970.
    package let createdAt: UnixSeconds
    /// The primary key, which only certifies.
    package let primary: P256.Signing.PrivateKey
    /// The certificate as it is published.
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

    /// Makes new keys and the certificate over them.
    package static func make(
        issuer: Issuer, at now: Timestamp, random: any RandomSource
    ) async throws -> IssuerKeyMaterial {
        let primary = P256.Signing.PrivateKey()
        let kept = KeyUse.allCases.map { IssuerKey.make($0, .current, id: random.id(at: now), at: now) }
        let certificate = try await Certificate.make(
            primary: SigningKeyPair(primary, createdAt: now.unixSeconds), flags: .certify,
            userID: "Countersign <countersign@\(issuer.host)>", subkeys: try kept.compactMap { try $0.subkey() },
            at: now.unixSeconds)
        return IssuerKeyMaterial(
            createdAt: now.unixSeconds, primary: primary, certificate: certificate, kept: kept)
    }

    /// The key that certifies the others.
    var certifier: SigningKeyPair { SigningKeyPair(primary, createdAt: createdAt) }

    /// The key of a use that is in a state; nil for none.
    func key(_ use: KeyUse, _ state: IssuerKey.State) -> IssuerKey? {
        kept.last { $0.use == use && $0.state == state }
    }

    /// The keys, ready for use; the primary key stays behind.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when there is none of a use.
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
                pushKeys: JWKSet(try published.map { JWK(try $0.pushKey().publicKey) }))
        }
    }
}
