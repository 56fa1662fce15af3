public import Crypto
public import OpenPGP

/// A person whose certificate has the form of a device's: primary, authentication and encryption keys in software.
public struct Holder: Sendable {
    /// The creation time of all keys and signatures.
    public static let time: UnixSeconds = 1_790_000_000

    /// The primary key, which signs.
    public let primary: SigningKeyPair
    /// The subkey that signs requests.
    public let authentication: SigningKeyPair
    /// The private key of that subkey.
    public let authenticationKey: P256.Signing.PrivateKey
    /// The subkey that decrypts.
    public let encryption: DecryptionKeyPair
    /// The certificate with these keys.
    public let certificate: Certificate

    /// Creates a person with new keys, all created at one time.
    public init(userID: String = "usr_1 <enr_1@login.example.com>", at time: UnixSeconds = time) async throws {
        primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
        authenticationKey = P256.Signing.PrivateKey()
        authentication = SigningKeyPair(authenticationKey, createdAt: time)
        encryption = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: time)
        certificate = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: userID,
            subkeys: [.authentication(authentication), .encryption(encryption.publicKey)], at: time)
    }
}
