package import Crypto
package import CountersignWire
package import JOSE
package import OpenPGP

/// The issuer's own keys in the form for daily use.
///
/// It is a class because it is immutable, and every operation gets it. A rotation makes a new instance.
package final class IssuerKeys: Sendable {
    /// The certificate; devices pin its primary key.
    package let certificate: Certificate
    /// The subkey that signs challenges and notices.
    package let signing: SigningKeyPair
    /// The key that signs push envelopes and nothing else.
    package let push: P256.Signing.PrivateKey
    /// The id of the push key at `/v1/push-keys`: its JWK thumbprint.
    package let pushKeyID: String
    /// The public halves of all keys for push envelopes: the current one, the next ones and the retired ones.
    package let pushKeys: JWKSet
    /// The keys for tokens.
    package let tokens: TokenKeys
    /// The subkeys that decrypt the messages of devices: the current one first, then those of other stages.
    ///
    /// A retired subkey is kept for messages that were sealed before devices learnt of the current one.
    private let decryption: [DecryptionKeyPair]

    /// Keys of these parts.
    ///
    /// - Parameters:
    ///   - certificate: the certificate.
    ///   - signing: the subkey that signs challenges and notices.
    ///   - decryption: the subkeys that decrypt, the current one first.
    ///   - push: the key that signs push envelopes.
    ///   - pushKeys: the public halves of all keys for push envelopes.
    ///   - tokens: the keys for tokens.
    init(
        certificate: Certificate, signing: SigningKeyPair, decryption: [DecryptionKeyPair],
        push: P256.Signing.PrivateKey, pushKeys: JWKSet, tokens: TokenKeys
    ) {
        self.certificate = certificate
        self.signing = signing
        self.decryption = decryption
        self.push = push
        self.pushKeys = pushKeys
        self.tokens = tokens
        pushKeyID = JWK(push.publicKey).thumbprint
    }

    /// Signs a removal notice, as a cleartext-signed message for the device that was removed.
    ///
    /// - Parameters:
    ///   - notice: the notice.
    ///   - now: the time of the signature.
    package func sign(_ notice: RemovalNotice, at now: Timestamp) async throws -> String {
        try await CleartextMessage.sign(notice.text, by: signing, at: now.unixSeconds).encoded
    }

    /// Decrypts a message to the issuer, and verifies that a device has signed it with its primary key.
    ///
    /// - Parameters:
    ///   - message: the binary OpenPGP message.
    ///   - enrollment: the enrollment whose primary key must have signed.
    ///   - now: the latest time that the signature may have, in seconds since 1970.
    /// - Throws: `OpenPGPError`; it is `notForThisKey` if the message is sealed to a key that the issuer does not have.
    func open(
        _ message: [UInt8], signedBy enrollment: Enrollment, now: UnixSeconds
    ) async throws -> VerifiedMessage {
        guard let signer = enrollment.keys?.primary else { throw OpenPGPError.unknownSigner }
        return try await withKey { key in
            try await EncryptedMessage.open(
                message, with: key, signers: [signer], intendedRecipient: certificate.fingerprint, now: now)
        }
    }

    /// Decrypts a message to the issuer, without verifying who has signed it.
    ///
    /// - Parameters:
    ///   - message: the binary OpenPGP message.
    ///   - intendedRecipient: the recipient that the signature must name; nil if the caller checks it.
    /// - Throws: `OpenPGPError`; it is `notForThisKey` if the message is sealed to a key that the issuer does not have.
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
    /// These keys themselves, for a caller whose keys nobody rotates.
    package func current() throws(StoreError) -> IssuerKeys { self }
}
