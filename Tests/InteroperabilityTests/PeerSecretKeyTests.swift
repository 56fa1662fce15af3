import OpenPGP
import TestSupport
import Testing

@Suite("Secret keys, ours used by others and theirs by us")
struct PeerSecretKeyTests {
    private static let passphrase = "correct horse battery staple"
    private static let content = Array("content".utf8)

    @Test(
        "A peer signs and decrypts with a key of ours", arguments: PeerName.installed, [nil, passphrase])
    func ours(name: PeerName, passphrase: String?) async throws {
        let (keys, sender) = (try await SoftwareKeys(answers: false), try await SoftwareKeys())
        let peer = try name.start()
        try peer.take(try keys.block.armored(passphrase: passphrase), passphrase: passphrase)
        try peer.learn(sender.certificate)
        #expect(try peer.certificate().encoded == keys.certificate.encoded || name != .sq)
        #expect(try peer.certificate().keys.map(\.fingerprint) == keys.certificate.keys.map(\.fingerprint))

        let signature = try DetachedSignature(parsing: try peer.sign(Self.content, .detached))
        let signer = try signature.verify(Self.content, by: keys.certificate, now: .max)
        #expect(signer.fingerprint == keys.certificate.fingerprint)

        let message = try await EncryptedMessage.seal(
            .binary(Self.content), signedBy: sender.primary, to: keys.encryption.publicKey,
            intendedRecipient: keys.certificate.fingerprint, at: SoftwareKeys.time)
        let opened = try peer.open(message)
        #expect(opened.content == Self.content)
        #expect(opened.verdict == .good(sender.certificate.fingerprint))
    }

    @Test("A peer cannot use a key of ours with another passphrase", arguments: PeerName.installed)
    func oursLocked(name: PeerName) async throws {
        let keys = try await SoftwareKeys(answers: false)
        let peer = try name.start()
        try peer.take(try keys.block.armored(passphrase: Self.passphrase), passphrase: "another")
        let message = try await EncryptedMessage.seal(
            .binary(Self.content), signedBy: keys.primary, to: keys.encryption.publicKey,
            intendedRecipient: keys.certificate.fingerprint, at: SoftwareKeys.time)
        #expect(try peer.open(message).content == nil)
    }

    @Test(
        "We sign and decrypt with a key of a peer's", arguments: PeerName.installed, [nil, passphrase])
    func theirs(name: PeerName, passphrase: String?) async throws {
        let peer = try await name.startWithKey()
        let armored = try peer.secretKeys(passphrase: passphrase)
        let block = try SecretKeyBlock(armored: armored, passphrase: passphrase)
        let certificate = block.certificate
        try peer.learn(certificate)

        let signing = try #require(block.signingKey(certificate.fingerprint))
        let time = certificate.primary.publicKey.createdAt
        let signature = try await DetachedSignature.sign(.binary(Self.content), by: signing, at: time)
        #expect(try peer.verify(signature.encoded, .detached, over: Self.content) == .good(certificate.fingerprint))

        let recipient = try certificate.key(for: .encrypt, at: .max - 1)
        let decryption = try #require(block.decryptionKey(recipient.fingerprint))
        let sender = try await name.startWithKey()
        try sender.learn(certificate)
        let message = try sender.seal(Self.content, to: certificate)
        let opened = try await EncryptedMessage.open(
            message, with: decryption, signers: try sender.certificate().keys, intendedRecipient: nil, now: .max)
        #expect(opened.content == Self.content)
    }

    @Test("A peer's locked key opens with its passphrase alone", arguments: PeerName.installed)
    func theirsLocked(name: PeerName) async throws {
        let armored = try await name.startWithKey().secretKeys(passphrase: Self.passphrase)
        #expect(throws: OpenPGPError.passphraseNeeded) { try SecretKeyBlock(armored: armored) }
        for wrong in ["", Self.passphrase + " ", Self.passphrase.uppercased()] {
            #expect(throws: OpenPGPError.wrongPassphrase) {
                try SecretKeyBlock(armored: armored, passphrase: wrong)
            }
        }
    }
}
