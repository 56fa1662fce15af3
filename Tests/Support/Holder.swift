package import Crypto
package import OpenPGP

/// A person whose certificate has the form of a device's: primary, authentication and encryption keys in software.
package struct Holder: Sendable {
    /// The creation time of all keys and signatures.
    package static let time: UnixSeconds = 1_790_000_000

    /// The primary key, which signs.
    package let primary: SigningKeyPair
    /// The subkey that signs requests.
    package let authentication: SigningKeyPair
    /// The private key of that subkey.
    package let authenticationKey: P256.Signing.PrivateKey
    /// The subkey that decrypts.
    package let encryption: DecryptionKeyPair
    /// The certificate with these keys.
    package let certificate: Certificate

    /// Creates a person with new keys, all created at one time.
    package init(userID: String = "usr_1 <enr_1@login.example.com>", at time: UnixSeconds = time) async throws {
        primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
        authenticationKey = P256.Signing.PrivateKey()
        authentication = SigningKeyPair(authenticationKey, createdAt: time)
        encryption = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: time)
        certificate = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: userID,
            subkeys: [.authentication(authentication), .encryption(encryption.publicKey)], at: time)
    }
}
