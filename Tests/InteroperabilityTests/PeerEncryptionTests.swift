import OpenPGP
import TestSupport
import Testing

@Suite("Encrypted messages, ours opened by others and theirs by us")
struct PeerEncryptionTests {
    private static let contents = [
        MessageContent.binary(Array(UInt8.min...UInt8.max)), .binary([]), .text("one\ntwo\n\nü"),
    ]

    /// A message of ours to a peer.
    private static func message(
        _ content: MessageContent, by keys: SoftwareKeys, to recipient: Certificate
    ) async throws -> [UInt8] {
        try await EncryptedMessage.seal(
            content, signedBy: keys.primary, to: try recipient.key(for: .encrypt, at: .max - 1).publicKey,
            intendedRecipient: recipient.fingerprint, at: SoftwareKeys.time)
    }

    @Test("A peer opens our message and finds our signature in it", arguments: PeerName.installed)
    func ours(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        let recipient = try peer.certificate()
        for content in Self.contents {
            let opened = try peer.open(try await Self.message(content, by: keys, to: recipient))
            #expect(opened.verdict == .good(keys.primary.publicKey.fingerprint))
            switch content {
            case .binary(let bytes): #expect(opened.content == bytes)
            case .text(let text):
                // Only gpg turns the line ends of a text into those of the machine.
                let lines = name == .gpg ? text : text.replacing("\n", with: "\r\n")
                #expect(opened.content == Array(lines.utf8))
            }
        }
    }

    @Test("Our message with a bit changed anywhere is refused by a peer", arguments: PeerName.installed)
    func oursAltered(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        let message = try await Self.message(.text("one\ntwo"), by: keys, to: try peer.certificate())
        #expect(try peer.open(message).content != nil)
        for index in stride(from: message.count - 1, to: 0, by: -23) {
            var other = message
            other[index] ^= 1
            let opened = try peer.open(other)
            #expect(opened.content == nil && opened.verdict == .refused, "byte \(index)")
        }
    }

    @Test("We open a peer's message", arguments: PeerName.installed)
    func theirs(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        let certificate = try peer.certificate()
        for content in [Array(UInt8.min...UInt8.max), [], [UInt8](repeating: 10, count: 70_000)] {
            let message = try peer.seal(content, to: keys.certificate)
            let opened = try await Self.open(message, with: keys, from: certificate)
            #expect(opened.content == content)
            #expect(opened.signer.fingerprint == certificate.fingerprint)
            // sq alone names the one it writes to under its signature; who insists on that gets no other's.
            let us = keys.certificate.fingerprint
            if name == .sq {
                let named = try await Self.open(message, with: keys, from: certificate, for: us)
                #expect(named.signature.subpackets.intendedRecipients == [us])
                await #expect(throws: OpenPGPError.wrongIntendedRecipient) {
                    try await Self.open(message, with: keys, from: certificate, for: certificate.fingerprint)
                }
            } else {
                #expect(opened.signature.subpackets.intendedRecipients == [])
                await #expect(throws: OpenPGPError.wrongIntendedRecipient) {
                    try await Self.open(message, with: keys, from: certificate, for: us)
                }
            }
        }
    }

    @Test("A peer's message with a bit changed anywhere is refused by us", arguments: PeerName.installed)
    func theirsAltered(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        let certificate = try peer.certificate()
        let message = try peer.seal(Array("content".utf8), to: keys.certificate)
        for index in message.indices {
            var other = message
            other[index] ^= 1
            await #expect(throws: OpenPGPError.self, "byte \(index)") {
                try await Self.open(other, with: keys, from: certificate)
            }
        }
    }

    @Test("A peer's message without a signature, or compressed, is refused by us", arguments: PeerName.installed)
    func outsideProfile(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        let certificate = try peer.certificate()
        let content = [UInt8](repeating: 10, count: 1000)
        let unsigned = try peer.seal(content, to: keys.certificate, signs: false, compresses: false)
        await #expect(throws: OpenPGPError.notSigned) { try await Self.open(unsigned, with: keys, from: certificate) }
        let compressed = try peer.seal(content, to: keys.certificate, signs: true, compresses: true)
        await #expect(throws: OpenPGPError.compressedData) {
            try await Self.open(compressed, with: keys, from: certificate)
        }
    }

    private static func open(
        _ message: [UInt8], with keys: SoftwareKeys, from signer: Certificate, for recipient: Fingerprint? = nil
    ) async throws -> VerifiedMessage {
        try await EncryptedMessage.open(
            message, with: keys.encryption, signers: signer.keys, intendedRecipient: recipient, now: .max)
    }
}
