public import Crypto

/// A private key that signs digests: in software, or in hardware that never releases it.
public protocol SigningKey: Sendable {
    /// The public half.
    var publicKey: P256.Signing.PublicKey { get }

    /// The ECDSA signature of a SHA-256 digest.
    ///
    /// A key in hardware may ask a person first, so this may take a while.
    func signature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature
}

/// A private key for ECDH: in software, or in hardware that never releases it.
public protocol AgreementKey: Sendable {
    /// The public half.
    var publicKey: P256.KeyAgreement.PublicKey { get }

    /// The raw shared secret, the x coordinate of the product, from which OpenPGP derives its key in its own way.
    func sharedSecret(with peer: P256.KeyAgreement.PublicKey) async throws -> SharedSecret
}

extension P256.Signing.PrivateKey: SigningKey {
    /// Signs in software.
    ///
    /// See ``SigningKey/signature(for:)``.
    public func signature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature {
        // The type annotation selects the synchronous method of the same name.
        let sign: (SHA256Digest) throws -> P256.Signing.ECDSASignature = signature(for:)
        return try sign(digest)
    }
}

extension P256.KeyAgreement.PrivateKey: AgreementKey {
    /// Computes in software.
    ///
    /// See ``AgreementKey/sharedSecret(with:)``.
    public func sharedSecret(with peer: P256.KeyAgreement.PublicKey) async throws -> SharedSecret {
        try sharedSecretFromKeyAgreement(with: peer)
    }
}

/// A signing key and the packet that describes its public half.
public struct SigningKeyPair: Sendable {
    /// The public half with its creation time.
    public let publicKey: PublicKey
    let privateKey: any SigningKey

    /// A pair of a private key and the time it was made.
    public init(_ privateKey: any SigningKey, createdAt: UnixSeconds) {
        self.privateKey = privateKey
        publicKey = PublicKey(.ecdsa(privateKey.publicKey), createdAt: createdAt)
    }
}

/// A key for decryption and the packet that describes its public half.
public struct DecryptionKeyPair: Sendable {
    /// The public half with its creation time.
    public let publicKey: PublicKey
    let privateKey: any AgreementKey

    /// A pair of a private key and the time it was made.
    ///
    /// - Parameters:
    ///   - privateKey: the private key.
    ///   - createdAt: when it was made.
    ///   - keyWrap: the cipher that wraps session keys to it.
    public init(_ privateKey: any AgreementKey, createdAt: UnixSeconds, keyWrap: PublicKey.KeyWrap = .aes256) {
        self.privateKey = privateKey
        publicKey = PublicKey(.ecdh(privateKey.publicKey, keyWrap: keyWrap), createdAt: createdAt)
    }
}
