import Crypto
import OpenPGP
import TestSupport
import Testing

/// Numbers lose the zeros they begin with where OpenPGP writes them, and must have them where it computes.
///
/// By chance that is one in 256, so programs that get it wrong pass their tests for long.
@Suite("RFC 9580 §3.2: numbers that begin with zeros")
struct PeerLeadingZeroTests {
    private static let content = Array("content".utf8)

    @Test(
        "RFC 9580 §5.5.3: secret keys of ours are used by a peer", arguments: PeerName.installed,
        [(1, nil), (1, "passphrase"), (15, nil)] as [(Int, String?)])
    func secretKeys(name: PeerName, form: (zeros: Int, passphrase: String?)) async throws {
        let keys = try await SoftwareKeys(answers: false, zeros: form.zeros)
        let sender = try await SoftwareKeys()
        let block = try keys.block.armored(passphrase: form.passphrase)
        let read = try SecretKeyBlock(armored: block, passphrase: form.passphrase)
        #expect(read.decryptionKey(keys.encryption.publicKey.fingerprint) != nil)
        let peer = try name.start()
        try peer.take(block, passphrase: form.passphrase)
        try peer.learn(sender.certificate)
        let signature = try DetachedSignature(parsing: try peer.sign(Self.content, .detached))
        _ = try signature.verify(Self.content, by: keys.certificate, now: .max)
        let message = try await EncryptedMessage.seal(
            .binary(Self.content), signedBy: sender.primary, to: keys.encryption.publicKey,
            intendedRecipient: keys.certificate.fingerprint, at: SoftwareKeys.time)
        #expect(try peer.open(message).content == Self.content)
    }

    @Test("RFC 9580 §5.2.3.2: signatures of ours are good for a peer", arguments: PeerName.installed, [0, 1])
    func signatures(name: PeerName, integer: Int) async throws {
        let keys = try await SoftwareKeys()
        let peer = try name.start()
        try peer.learn(keys.certificate)
        var signature = try await DetachedSignature.sign(.binary(Self.content), by: keys.primary, at: SoftwareKeys.time)
        var tries = 0
        while Self.integerSizes(signature.signature.body)[integer] == 32, tries < 100_000 {
            signature = try await DetachedSignature.sign(.binary(Self.content), by: keys.primary, at: SoftwareKeys.time)
            tries += 1
        }
        #expect(Self.integerSizes(signature.signature.body)[integer] < 32)
        _ = try signature.verify(Self.content, by: keys.certificate, now: .max)
        #expect(
            try peer.verify(signature.encoded, .detached, over: Self.content) == .good(keys.certificate.fingerprint))
    }

    /// How many octets the two integers of a signature packet have.
    private static func integerSizes(_ body: [UInt8]) -> [Int] {
        func number(at index: Int) -> Int { Int(body[index]) << 8 | Int(body[index + 1]) }
        var index = 6 + number(at: 4)
        index += 2 + number(at: index) + 2
        let first = (number(at: index) + 7) / 8
        return [first, (number(at: index + 2 + first) + 7) / 8]
    }

    @Test("RFC 9580 §11.5: a shared secret that begins with a zero is used whole", arguments: PeerName.installed)
    func sharedSecret(name: PeerName) async throws {
        let (keys, sender) = (try await SoftwareKeys(answers: false), try await SoftwareKeys())
        func seal() async throws -> [UInt8] {
            try await EncryptedMessage.seal(
                .binary(Self.content), signedBy: sender.primary, to: keys.encryption.publicKey,
                intendedRecipient: keys.certificate.fingerprint, at: SoftwareKeys.time)
        }
        var message = try await seal()
        var tries = 0
        while try Self.beginsWithZero(message, keys.encryptionKey) == false, tries < 100_000 {
            message = try await seal()
            tries += 1
        }
        #expect(try Self.beginsWithZero(message, keys.encryptionKey))
        let peer = try name.start()
        try peer.take(try keys.block.armored(passphrase: nil), passphrase: nil)
        try peer.learn(sender.certificate)
        #expect(try peer.open(message).content == Self.content)
    }

    /// Whether the shared secret of a message's session key packet begins with a zero.
    private static func beginsWithZero(_ message: [UInt8], _ key: P256.KeyAgreement.PrivateKey) throws -> Bool {
        // Two octets of header, version, key ID, algorithm and the size of the point.
        let point = message[(2 + 1 + 8 + 1 + 2)...].prefix(65)
        let ephemeral = try P256.KeyAgreement.PublicKey(x963Representation: point)
        return try key.sharedSecretFromKeyAgreement(with: ephemeral).withUnsafeBytes { $0[0] == 0 }
    }
}
