import Crypto
import OpenPGP
import TestSupport

/// A certificate of ours whose private keys can leave for another program.
struct SoftwareKeys {
    static let time = Holder.time
    static let host = "login.example.com"

    /// The primary key, which signs.
    let primary: SigningKeyPair
    /// The subkey that signs what was answered with a PIN, if there is one.
    let pin: SigningKeyPair?
    /// The subkey that decrypts.
    let encryption: DecryptionKeyPair
    /// The private half of it.
    let encryptionKey: P256.KeyAgreement.PrivateKey
    let certificate: Certificate
    let block: SecretKeyBlock
    /// The block as of a person who keeps the primary key elsewhere.
    let withoutPrimary: SecretKeyBlock

    /// - Parameters:
    ///   - userID: the user ID.
    ///   - answers: whether there is a subkey that signs answers, with the notation that says how.
    ///   - expiresAt: when the certificate ends.
    ///   - zeros: how many octets of zero the private numbers begin with.
    init(
        userID: String = "usr_1 <enr_1@login.example.com>", answers: Bool = true, expiresAt: UnixSeconds? = nil,
        zeros: Int = 0
    ) async throws {
        func number() -> [UInt8] {
            let number = P256.Signing.PrivateKey().rawRepresentation
            return zeros == 0 ? Array(number) : [UInt8](repeating: 0, count: zeros) + number.dropFirst(zeros)
        }
        let keys = (
            try P256.Signing.PrivateKey(rawRepresentation: number()),
            try P256.Signing.PrivateKey(rawRepresentation: number()),
            try P256.KeyAgreement.PrivateKey(rawRepresentation: number())
        )
        primary = SigningKeyPair(keys.0, createdAt: Self.time)
        let pin = SigningKeyPair(keys.1, createdAt: Self.time)
        encryptionKey = keys.2
        encryption = DecryptionKeyPair(keys.2, createdAt: Self.time)
        let notation = Notation(name: "method@\(Self.host)", value: "pin")
        certificate = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: userID,
            subkeys: (answers ? [.signing(pin, notations: [notation])] : []) + [.encryption(encryption.publicKey)],
            expiresAt: expiresAt, at: Self.time)
        self.pin = answers ? pin : nil
        let subkeys = [.decryption(keys.2)] + (answers ? [.signing(keys.1)] : []) as [SecretKeyBlock.Key]
        block = try SecretKeyBlock(certificate, keys: [.signing(keys.0)] + subkeys)
        withoutPrimary = try SecretKeyBlock(certificate, keys: subkeys)
    }
}
