public import Crypto
public import CountersignWire
public import JOSE
public import OpenPGP

/// The issuer's own keys, in use.
///
/// A class, because it never changes and is handed on with every operation.
public final class IssuerKeys: Sendable {
    /// The certificate that devices pin by its primary key.
    public let certificate: Certificate
    /// The subkey that signs challenges and notices.
    public let signing: SigningKeyPair
    /// The subkey that opens answers.
    public let encryption: DecryptionKeyPair
    /// The key for push envelopes, used for nothing else.
    public let push: P256.Signing.PrivateKey
    /// Its name at `/v1/push-keys`.
    public let pushKeyID: String

    /// Keys of these parts.
    public init(
        certificate: Certificate, signing: SigningKeyPair, encryption: DecryptionKeyPair,
        push: P256.Signing.PrivateKey
    ) {
        self.certificate = certificate
        self.signing = signing
        self.encryption = encryption
        self.push = push
        pushKeyID = JWK(push.publicKey).thumbprint
    }

    /// The public halves of the keys for push envelopes.
    public var pushKeys: JWKSet { JWKSet([JWK(push.publicKey)]) }

    /// A notice signed for the device it concerns.
    public func sign(_ notice: RemovalNotice, at now: Timestamp) async throws -> String {
        try await CleartextMessage.sign(notice.text, by: signing, at: now.unixSeconds).encoded
    }
}

/// The private halves of the issuer's keys, the way they are kept: sealed under the master key.
public struct IssuerKeyMaterial: Sendable {
    /// When the keys were made, in seconds since 1970.
    public let createdAt: UnixSeconds
    /// The primary key, which only certifies.
    public let primary: P256.Signing.PrivateKey
    /// The signing subkey.
    public let signing: P256.Signing.PrivateKey
    /// The encryption subkey.
    public let encryption: P256.KeyAgreement.PrivateKey
    /// The key for push envelopes.
    public let push: P256.Signing.PrivateKey
    /// The certificate.
    public let certificate: Certificate

    /// Material of these parts.
    public init(
        createdAt: UnixSeconds, primary: P256.Signing.PrivateKey, signing: P256.Signing.PrivateKey,
        encryption: P256.KeyAgreement.PrivateKey, push: P256.Signing.PrivateKey, certificate: Certificate
    ) {
        self.createdAt = createdAt
        self.primary = primary
        self.signing = signing
        self.encryption = encryption
        self.push = push
        self.certificate = certificate
    }

    /// Makes new keys and the certificate over them.
    public static func make(issuer: Issuer, at now: Timestamp) async throws -> IssuerKeyMaterial {
        let time = now.unixSeconds
        let primary = P256.Signing.PrivateKey()
        let signing = P256.Signing.PrivateKey()
        let encryption = P256.KeyAgreement.PrivateKey()
        let certificate = try await Certificate.make(
            primary: SigningKeyPair(primary, createdAt: time), flags: .certify,
            userID: "Countersign <countersign@\(issuer.host)>",
            subkeys: [
                .signing(SigningKeyPair(signing, createdAt: time)),
                .encryption(DecryptionKeyPair(encryption, createdAt: time).publicKey),
            ], at: time)
        return IssuerKeyMaterial(
            createdAt: time, primary: primary, signing: signing, encryption: encryption,
            push: P256.Signing.PrivateKey(), certificate: certificate)
    }

    /// The keys, ready for use.
    ///
    /// The primary key stays behind.
    public var keys: IssuerKeys {
        IssuerKeys(
            certificate: certificate, signing: SigningKeyPair(signing, createdAt: createdAt),
            encryption: DecryptionKeyPair(encryption, createdAt: createdAt), push: push)
    }
}
