import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.3: signed and encrypted messages")
struct EncryptedMessageTests {
    private let box: MessageForge

    init() async throws {
        box = try await MessageForge()
    }

    @Test("A message opens to what was sealed, binary and text")
    func roundTrip() async throws {
        let every = Array(UInt8.min...UInt8.max)
        for (content, expected) in [
            (MessageContent.binary(every), every), (.binary([]), []), (.text(""), []),
            (.text("one\ntwo\n\nfour é"), Array("one\ntwo\n\nfour é".utf8)),
        ] {
            let message = try await EncryptedMessage.seal(
                content, signedBy: box.sender.primary, to: box.recipient.encryption.publicKey,
                intendedRecipient: box.recipient.certificate.fingerprint, at: Holder.time)
            let opened = try await box.open(message)
            #expect(opened.content == expected)
            #expect(opened.signer.fingerprint == box.sender.primary.publicKey.fingerprint)
            #expect(opened.signature.createdAt == Holder.time)
        }
    }

    @Test("What gpg signed and encrypted opens to what gpg was given")
    func fromGPG() async throws {
        let message = try #require(Hex.decode(PeerFixture.message))
        let certificate = try Certificate(armored: PeerFixture.certificate)
        let opened = try await EncryptedMessage.open(
            message, with: try PeerFixture.encryption(), signers: certificate.keys, intendedRecipient: nil,
            now: PeerFixture.time)
        #expect(opened.content == Array(PeerFixture.encryptedText.utf8))
        #expect("\(opened.signer.fingerprint)" == PeerFixture.fingerprint)
    }

    @Test("A message of an unknown signer opens without being verified, if it arrived whole and is for us")
    func withoutVerifying() async throws {
        let stranger = try await Holder()
        let recipient = box.recipient.certificate.fingerprint
        let message = try await EncryptedMessage.seal(
            .text("who?"), signedBy: stranger.primary, to: box.recipient.encryption.publicKey,
            intendedRecipient: recipient, at: Holder.time)
        await #expect(throws: OpenPGPError.unknownSigner) { try await box.open(message) }
        let opened = try await EncryptedMessage.openWithoutVerifying(
            message, with: box.recipient.encryption, intendedRecipient: recipient)
        #expect(opened.content == Array("who?".utf8))
        #expect(opened.signature.subpackets.issuer == stranger.primary.publicKey.fingerprint)
        await #expect(throws: OpenPGPError.wrongIntendedRecipient) {
            try await EncryptedMessage.openWithoutVerifying(
                message, with: box.recipient.encryption, intendedRecipient: stranger.certificate.fingerprint)
        }
        await #expect(throws: OpenPGPError.notForThisKey) {
            try await EncryptedMessage.openWithoutVerifying(
                message, with: stranger.encryption, intendedRecipient: recipient)
        }
        await #expect(throws: OpenPGPError.decryptionFailed) {
            try await EncryptedMessage.openWithoutVerifying(
                message.dropLast() + [message[message.count - 1] ^ 1], with: box.recipient.encryption,
                intendedRecipient: recipient)
        }
    }

    @Test("A message for another key is refused, also when its key ID is put on it")
    func otherRecipient() async throws {
        let message = try await box.sealed()
        await #expect(throws: OpenPGPError.notForThisKey) { try await box.open(message, with: box.sender.encryption) }
        var readdressed = message
        readdressed.replaceSubrange(3..<11, with: box.sender.encryption.publicKey.fingerprint.keyID)
        await #expect(throws: OpenPGPError.decryptionFailed) {
            try await box.open(readdressed, with: box.sender.encryption)
        }
    }

    @Test("RFC 9580 §5.1: a key ID of zero, for anybody who tries, is refused")
    func anonymousRecipient() async throws {
        var message = try await box.sealed()
        message.replaceSubrange(3..<11, with: [UInt8](repeating: 0, count: 8))
        await #expect(throws: OpenPGPError.notForThisKey) { try await box.open(message) }
    }

    @Test("One of several session keys may be ours, up to a limit")
    func severalRecipients() async throws {
        let key = SessionKey()
        let data = Forge.packet(.protectedData, try ProtectedData.encrypt(try await box.packets(), with: key))
        let other = Forge.packet(.encryptedSessionKey, try key.encrypted(to: box.sender.encryption.publicKey))
        let own = Forge.packet(.encryptedSessionKey, try key.encrypted(to: box.recipient.encryption.publicKey))
        _ = try await box.open(other + own + data)
        let most = Array([[UInt8]](repeating: other, count: 15).joined())
        _ = try await box.open(most + own + data)
        await #expect(throws: OpenPGPError.tooLarge) { try await box.open(most + other + own + data) }
        await #expect(throws: OpenPGPError.notForThisKey) { try await box.open(other + data) }
        await #expect(throws: OpenPGPError.notForThisKey) { try await box.open(data) }
    }

    @Test("RFC 9580 §5.2.3.36: a message whose signature was meant for someone else is refused")
    func intendedRecipient() async throws {
        let mine = box.recipient.certificate.fingerprint
        let another = try await box.packets(for: [box.sender.certificate.fingerprint])
        await #expect(throws: OpenPGPError.wrongIntendedRecipient) { try await box.open(packets: another) }
        let nobody = try await box.packets(for: [])
        await #expect(throws: OpenPGPError.wrongIntendedRecipient) { try await box.open(packets: nobody) }
        _ = try await box.open(packets: try await box.packets(for: [box.sender.certificate.fingerprint, mine]))
        let subkey = try await box.packets(for: [box.recipient.encryption.publicKey.fingerprint])
        await #expect(throws: OpenPGPError.wrongIntendedRecipient) { try await box.open(packets: subkey) }
    }

    @Test("A message by a key that is not expected, or may not sign, is refused")
    func signers() async throws {
        let message = try await box.sealed()
        await #expect(throws: OpenPGPError.unknownSigner) {
            try await box.open(message, signers: box.recipient.certificate.keys)
        }
        await #expect(throws: OpenPGPError.unknownSigner) { try await box.open(message, signers: []) }
        let authenticated = try await box.packets(by: box.sender.authentication)
        await #expect(throws: OpenPGPError.wrongKeyFlags) { try await box.open(packets: authenticated) }
        await #expect(throws: OpenPGPError.badSignatureTime) { try await box.open(message, now: Holder.time - 1) }
    }

    @Test("Encrypted without a signature is refused as not signed")
    func unsigned() async throws {
        let parts = try await box.parts()
        await #expect(throws: OpenPGPError.notSigned) { try await box.open(packets: parts.literal) }
        await #expect(throws: OpenPGPError.notSigned) {
            try await box.open(packets: parts.announcement + parts.literal)
        }
        await #expect(throws: OpenPGPError.truncated) { try await box.open(packets: []) }
        await #expect(throws: OpenPGPError.truncated) { try await box.open(packets: parts.announcement) }
    }

    @Test("Signed and not encrypted is refused")
    func unencrypted() async throws {
        let parts = try await box.parts()
        await #expect(throws: OpenPGPError.notEncrypted) { try await box.open(parts.whole) }
        await #expect(throws: OpenPGPError.notEncrypted) { try await box.open(parts.literal) }
        await #expect(throws: OpenPGPError.notEncrypted) { try await box.open(parts.signature + parts.literal) }
        await #expect(throws: OpenPGPError.truncated) { try await box.open([]) }
    }

    @Test("Two signatures are refused, in every form they can take")
    func severalSignatures() async throws {
        let parts = try await box.parts()
        let (first, literal, last) = (parts.announcement, parts.literal, parts.signature)
        let nested: [UInt8] = first.dropLast() + [0]
        for packets in [
            first + first + literal + last + last, first + literal + last + last, nested + first + literal + last,
            nested + literal + last,
        ] as [[UInt8]] {
            await #expect(throws: OpenPGPError.severalSignatures) { try await box.open(packets: packets) }
        }
    }

    @Test("RFC 9580 §5.6, §5.7: compressed and unprotected data are refused by name wherever they stand")
    func otherData() async throws {
        let message = try await box.sealed()
        let key = Array(try Packet.sequence(message[...])[0].body)
        let sessionKey = Forge.packet(.encryptedSessionKey, key)
        let parts = try await box.parts()
        let compressed = Forge.packet(.compressedData, [0] + parts.whole)
        await #expect(throws: OpenPGPError.compressedData) { try await box.open(compressed) }
        await #expect(throws: OpenPGPError.compressedData) { try await box.open(sessionKey + compressed) }
        await #expect(throws: OpenPGPError.compressedData) { try await box.open(packets: compressed) }
        await #expect(throws: OpenPGPError.compressedData) {
            try await box.open(packets: parts.announcement + compressed + parts.signature)
        }
        await #expect(throws: OpenPGPError.noIntegrityProtection) {
            try await box.open(sessionKey + Forge.packet(.unprotectedData, [UInt8](repeating: 1, count: 64)))
        }
        await #expect(throws: OpenPGPError.noIntegrityProtection) {
            try await box.open(Forge.packet(.unprotectedData, []))
        }
    }

    @Test("Protected data turned into unprotected data, the EFAIL downgrade, is refused")
    func downgrade() async throws {
        let packets = try Packet.sequence(try await box.sealed()[...])
        let sessionKey = Forge.packet(.encryptedSessionKey, packets[0].body)
        await #expect(throws: OpenPGPError.noIntegrityProtection) {
            try await box.open(sessionKey + Forge.packet(.unprotectedData, packets[1].body.dropFirst()))
        }
    }

    @Test("Packets in a wrong place are refused by type")
    func order() async throws {
        let message = try await box.sealed()
        let parts = try await box.parts()
        let userID = Forge.packet(.userID, [0x61])
        await #expect(throws: OpenPGPError.trailingData) { try await box.open(message + userID) }
        await #expect(throws: OpenPGPError.trailingData) { try await box.open(message + message) }
        await #expect(throws: OpenPGPError.unexpectedPacket(.userID)) { try await box.open(userID + message) }
        let inner: [([UInt8], OpenPGPError)] = [
            (userID + parts.whole, .unexpectedPacket(.userID)),
            (parts.signature + parts.literal, .unexpectedPacket(.signature)),
            (parts.announcement + parts.signature + parts.literal, .unexpectedPacket(.signature)),
            (parts.announcement + parts.literal + parts.literal, .unexpectedPacket(.literalData)),
            (parts.whole + userID, .trailingData), (parts.whole + parts.literal, .trailingData),
            (parts.whole + [0], .malformedHeader), (parts.whole.dropLast(), .truncated),
            (Forge.packet(.protectedData, [1]) + parts.whole, .unexpectedPacket(.protectedData)),
        ]
        for (packets, error) in inner {
            await #expect(throws: error) { try await box.open(packets: Array(packets)) }
        }
        _ = try await box.open(packets: Forge.packet(.marker, "PGP".utf8) + parts.whole)
    }

    @Test("A message beyond its size is refused before anything is read")
    func size() async throws {
        let bytes = [UInt8](repeating: 0, count: EncryptedMessage.maximumSize + 1)
        await #expect(throws: OpenPGPError.tooLarge) { try await box.open(bytes) }
        await #expect(throws: OpenPGPError.malformedHeader) { try await box.open(bytes.dropLast()) }
    }
}
