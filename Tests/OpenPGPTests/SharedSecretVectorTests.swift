import Crypto
import Encodings
import Testing

@testable import OpenPGP

/// Messages that gpg made, with the session key that gpg says it put into them.
@Suite("RFC 9580 §11.5: known answers for ECDH")
struct SharedSecretVectorTests {
    /// The pair of a vector's recipient and the certificate of its signer.
    private func keys(_ fields: [String: String]) throws -> (DecryptionKeyPair, signer: Certificate) {
        let recipient = try SecretKeyBlock(armored: try Vector.text("ecdh/\(fields["recipient"] ?? "").key"))
        let key = try recipient.certificate.key(for: .encrypt, at: PeerFixture.time)
        let signer = try SecretKeyBlock(armored: try Vector.text("ecdh/aes256.key"))
        return (try #require(recipient.decryptionKey(key.fingerprint)), signer.certificate)
    }

    private func message(_ fields: [String: String]) throws -> [UInt8] {
        let text = try #require(fields["message"])
        return try #require(Base64.decode(text))
    }

    @Test(
        "RFC 9580 §5.1, §11.5: the session key of a message is the one that gpg shows",
        arguments: Vector.names(in: "ecdh", suffix: ".txt"))
    func sessionKey(name: String) async throws {
        let fields = try Vector.fields("ecdh/\(name)")
        let message = try message(fields)
        let packet = try #require(try Packet.sequence(message[...]).first)
        let found = try await SessionKey.decrypted(from: packet.body, with: try keys(fields).0)
        let expected = try #require(fields["session-key"])
        #expect(expected.count == 64)
        #expect(found.key.withUnsafeBytes { Hex.encodeUppercase(Array($0)) } == expected)
    }

    @Test(
        "RFC 9580 §10.3: the message opens to the content that went into it",
        arguments: Vector.names(in: "ecdh", suffix: ".txt"))
    func content(name: String) async throws {
        let fields = try Vector.fields("ecdh/\(name)")
        let message = try message(fields)
        let (key, signer) = try keys(fields)
        let opened = try await EncryptedMessage.open(
            message, with: key, signers: signer.keys, intendedRecipient: nil, now: PeerFixture.time)
        #expect(opened.content.count == fields["content-bytes"].flatMap { Int($0) })
        #expect(Hex.encode(Array(SHA256.hash(data: opened.content))) == fields["content-sha256"])
        #expect(opened.signer.fingerprint.description == PeerFixture.fingerprint)
    }

    @Test("Both ciphers that wrap session keys and both kinds of content are among the vectors")
    func variety() throws {
        let names = Vector.names(in: "ecdh", suffix: ".txt")
        for kind in ["aes128-text", "aes128-binary", "aes256-text", "aes256-binary"] {
            #expect(names.count { $0.hasPrefix(kind) } >= 6, "\(kind)")
        }
        for (name, keyWrap) in [("aes128", PublicKey.KeyWrap.aes128), ("aes256", .aes256)] {
            let (key, _) = try keys(["recipient": name])
            guard case .ecdh(_, keyWrap) = key.publicKey.material else {
                Issue.record("\(name) is wrapped otherwise")
                continue
            }
        }
    }

    @Test(
        "RFC 9580 §11.5: among them are shared secrets that begin with a zero, which must not be cut short",
        arguments: ["aes128-text-16-zero.txt", "aes256-binary-16-zero.txt"])
    func leadingZero(name: String) async throws {
        let fields = try Vector.fields("ecdh/\(name)")
        let packet = try #require(try Packet.sequence(try message(fields)[...]).first)
        // Behind version, key ID, algorithm and the size of the point.
        let ephemeral = try P256.KeyAgreement.PublicKey(x963Representation: packet.body.dropFirst(12).prefix(65))
        let secret = try await keys(fields).0.privateKey.sharedSecret(with: ephemeral)
        #expect(secret.withUnsafeBytes { $0[0] } == 0)
    }

    @Test("RFC 9580 §11.5: the key of another recipient opens none of them, whichever cipher wraps")
    func otherKey() async throws {
        let fields = try Vector.fields("ecdh/aes128-text-16.txt")
        let message = try message(fields)
        let (other, signer) = try keys(["recipient": "aes256"])
        await #expect(throws: OpenPGPError.notForThisKey) {
            try await EncryptedMessage.open(
                message, with: other, signers: signer.keys, intendedRecipient: nil, now: PeerFixture.time)
        }
        let packet = try #require(try Packet.sequence(message[...]).first)
        await #expect(throws: OpenPGPError.decryptionFailed) {
            try await SessionKey.decrypted(from: packet.body, with: other)
        }
    }
}
