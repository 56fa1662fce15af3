package import Crypto
package import CountersignWire
package import JOSE
package import OpenPGP

/// The issuer's own keys, in use.
///
/// A class, because it never changes and is handed on with every operation: keys that were rotated are another one.
package final class IssuerKeys: Sendable {
    /// The certificate that devices pin by its primary key.
    package let certificate: Certificate
    /// The subkey that signs challenges and notices.
    package let signing: SigningKeyPair
    /// The key for push envelopes, used for nothing else.
    package let push: P256.Signing.PrivateKey
    /// Its name at `/v1/push-keys`.
    package let pushKeyID: String
    /// The public halves of the keys for push envelopes: the one that signs, and those that did or will.
    package let pushKeys: JWKSet
    /// The subkeys that open what devices seal: the current one first, then what is kept for messages on their way.
    private let decryption: [DecryptionKeyPair]

    /// Keys of these parts.
    ///
    /// - Parameters:
    ///   - certificate: the certificate.
    ///   - signing: the subkey that signs.
    ///   - decryption: the subkeys that open, the current one first.
    ///   - push: the key for push envelopes.
    ///   - pushKeys: all keys for push envelopes that are published.
    init(
        certificate: Certificate, signing: SigningKeyPair, decryption: [DecryptionKeyPair],
        push: P256.Signing.PrivateKey, pushKeys: JWKSet
    ) {
        self.certificate = certificate
        self.signing = signing
        self.decryption = decryption
        self.push = push
        self.pushKeys = pushKeys
        pushKeyID = JWK(push.publicKey).thumbprint
    }

    /// A notice signed for the device it concerns.
    package func sign(_ notice: RemovalNotice, at now: Timestamp) async throws -> String {
        try await CleartextMessage.sign(notice.text, by: signing, at: now.unixSeconds).encoded
    }

    /// Opens what a device has signed by its primary key and sealed to the issuer.
    ///
    /// - Parameters:
    ///   - message: the binary OpenPGP message.
    ///   - enrollment: whose it must be.
    ///   - now: the latest time it may be signed at.
    /// - Throws: `OpenPGPError`; `notForThisKey` when it is sealed to a key that is honoured no more.
    func open(
        _ message: [UInt8], signedBy enrollment: Enrollment, now: UnixSeconds
    ) async throws -> VerifiedMessage {
        try await withKey { key in
            try await EncryptedMessage.open(
                message, with: key, signers: [enrollment.keys.primary], intendedRecipient: certificate.fingerprint,
                now: now)
        }
    }

    /// Opens what a device has sealed to the issuer, whoever has signed it.
    ///
    /// - Parameters:
    ///   - message: the binary OpenPGP message.
    ///   - intendedRecipient: whom the signature must name; nil for anybody.
    /// - Throws: `OpenPGPError`; `notForThisKey` when it is sealed to a key that is honoured no more.
    func openWithoutVerifying(
        _ message: [UInt8], intendedRecipient: Fingerprint?
    ) async throws -> UnverifiedMessage {
        try await withKey { key in
            try await EncryptedMessage.openWithoutVerifying(message, with: key, intendedRecipient: intendedRecipient)
        }
    }

    private func withKey<Message: Sendable>(
        _ open: (DecryptionKeyPair) async throws -> Message
    ) async throws -> Message {
        for key in decryption {
            do { return try await open(key) } catch OpenPGPError.notForThisKey { continue }
        }
        throw OpenPGPError.notForThisKey
    }
}

extension IssuerKeys: IssuerKeySource {
    /// These, for who works with keys that nobody else changes.
    package func current() throws(StoreError) -> IssuerKeys { self }
}
