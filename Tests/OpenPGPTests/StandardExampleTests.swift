import Encodings
import Testing

@testable import OpenPGP

/// None of the specification's examples uses NIST P-256: each is refused, by the name of what it uses.
@Suite("RFC 9580 appendix A: examples outside the profile")
struct StandardExampleTests {
    /// An example and why it is refused.
    struct Example: Sendable, CustomTestStringConvertible {
        let section: String
        let what: String
        let error: OpenPGPError

        var testDescription: String { "\(section): \(what)" }

        /// The bytes of the example.
        func bytes(_ kind: Armor.Kind) throws -> [UInt8] {
            try Armor.decode(try Vector.text("rfc9580/\(section).asc"), as: kind)
        }
    }

    static let certificates = [
        Example(section: "A.1", what: "an Ed25519Legacy key", error: .unsupportedKeyAlgorithm(22)),
        Example(
            section: "A.3", what: "a version 6 certificate", error: .unsupportedVersion(.publicKey, version: 6)),
    ]

    @Test("RFC 9580 appendix A: certificates", arguments: certificates)
    func certificate(_ example: Example) throws {
        let armored = try Vector.text("rfc9580/\(example.section).asc")
        #expect(throws: example.error) { try Certificate(armored: armored) }
    }

    @Test("RFC 9580 A.2: a signature by an Ed25519Legacy key")
    func signature() throws {
        let example = Example(section: "A.2", what: "", error: .unsupportedKeyAlgorithm(22))
        let packets = try Packet.sequence(try example.bytes(.signature)[...])
        #expect(packets.map(\.tag) == [.signature])
        #expect(throws: example.error) { try Signature(parsing: try #require(packets.first).body) }
    }

    @Test("RFC 9580 A.4, A.5: version 6 secret keys, readable and locked", arguments: ["A.4", "A.5"])
    func secretKeys(section: String) throws {
        let armored = try Vector.text("rfc9580/\(section).asc")
        #expect(throws: OpenPGPError.unsupportedVersion(.secretKey, version: 6)) {
            try SecretKeyBlock(armored: armored, passphrase: "correct horse battery staple")
        }
    }

    @Test("RFC 9580 A.7: a message with a version 6 signature")
    func inlineSigned() throws {
        let example = Example(section: "A.7", what: "", error: .unsupportedVersion(.onePassSignature, version: 6))
        let message = try example.bytes(.message)
        #expect(throws: example.error) { try SignedMessage.open(message, signers: [], now: PeerFixture.time) }
    }

    @Test("RFC 9580 A.6: a cleartext message with a version 6 signature, and without the Hash header we ask for")
    func cleartext() throws {
        let text = try Vector.text("rfc9580/A.6.asc")
        #expect(throws: OpenPGPError.malformedCleartext) { try CleartextMessage(parsing: text) }
        let withHeader = text.replacing("SIGNED MESSAGE-----\n", with: "SIGNED MESSAGE-----\nHash: SHA256\n")
        #expect(throws: OpenPGPError.unsupportedVersion(.signature, version: 6)) {
            try CleartextMessage(parsing: withHeader)
        }
    }

    static let messages = [
        Example(
            section: "A.8", what: "to an X25519 key, with AEAD",
            error: .unsupportedVersion(.encryptedSessionKey, version: 6)),
        Example(section: "A.9", what: "EAX, by a passphrase", error: .unexpectedPacket(.passphraseSessionKey)),
        Example(section: "A.10", what: "OCB, by a passphrase", error: .unexpectedPacket(.passphraseSessionKey)),
        Example(section: "A.11", what: "GCM, by a passphrase", error: .unexpectedPacket(.passphraseSessionKey)),
        Example(section: "A.12.1", what: "Argon2, AES-128", error: .unexpectedPacket(.passphraseSessionKey)),
        Example(section: "A.12.2", what: "Argon2, AES-192", error: .unexpectedPacket(.passphraseSessionKey)),
        Example(section: "A.12.3", what: "Argon2, AES-256", error: .unexpectedPacket(.passphraseSessionKey)),
    ]

    @Test("RFC 9580 appendix A: encrypted messages", arguments: messages)
    func message(_ example: Example) async throws {
        let message = try example.bytes(.message)
        let recipient = try PeerFixture.encryption()
        await #expect(throws: example.error) {
            try await EncryptedMessage.open(
                message, with: recipient, signers: [], intendedRecipient: nil, now: PeerFixture.time)
        }
    }

    @Test(
        "RFC 9580 §5.13.2: protected data of version 2, from four of the examples",
        arguments: messages.prefix(4).map(\.section))
    func protectedData(section: String) throws {
        let example = Example(section: section, what: "", error: .unsupportedVersion(.protectedData, version: 2))
        let packets = try Packet.sequence(try example.bytes(.message)[...])
        let data = try #require(packets.last)
        #expect(packets.count == 2 && data.tag == .protectedData)
        #expect(throws: example.error) { try ProtectedData.decrypt(data.body, with: SessionKey()) }
    }

    @Test("RFC 9580 appendix A: every example is tested here")
    func complete() {
        let tested = (Self.certificates + Self.messages).map(\.section) + ["A.2", "A.4", "A.5", "A.6", "A.7"]
        #expect(Set(tested.map { "\($0).asc" }) == Set(Vector.names(in: "rfc9580", suffix: ".asc")))
    }
}

extension PacketTag {
    /// Symmetric-Key Encrypted Session Key, which is not of the profile.
    fileprivate static let passphraseSessionKey = PacketTag(rawValue: 3)
}
