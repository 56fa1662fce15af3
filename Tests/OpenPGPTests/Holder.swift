import Crypto
import OpenPGP

/// A person with a certificate like a device's: primary, authentication and encryption keys in software.
struct Holder {
    static let time: UnixSeconds = 1_790_000_000

    let primary: SigningKeyPair
    let authentication: SigningKeyPair
    let encryption: DecryptionKeyPair
    let certificate: Certificate

    init(userID: String = "usr_1 <enr_1@login.example.com>") async throws {
        primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.time)
        authentication = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.time)
        encryption = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: Self.time)
        certificate = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: userID,
            subkeys: [.authentication(authentication), .encryption(encryption.publicKey)], at: Self.time)
    }
}
