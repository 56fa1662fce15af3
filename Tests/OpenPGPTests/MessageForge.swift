import TestSupport
@testable import OpenPGP

/// A sender, a recipient and everything that can be put into a message between them.
struct MessageForge {
    /// The three packets inside a message.
    struct Parts {
        let announcement: [UInt8]
        let literal: [UInt8]
        let signature: [UInt8]

        var whole: [UInt8] { announcement + literal + signature }
    }

    static let content = Array("content\r\nof two lines".utf8)

    let sender: Holder
    let recipient: Holder

    init() async throws {
        sender = try await Holder()
        recipient = try await Holder()
    }

    /// The packets inside a message of the sender's.
    func parts(
        by signer: SigningKeyPair? = nil, for recipients: [Fingerprint]? = nil, type: SignatureType = .text,
        announced: SignatureType? = nil, announcedBy: SigningKeyPair? = nil, format: LiteralData.Format = .utf8
    ) async throws -> Parts {
        let signer = signer ?? sender.primary
        let signature = try await Signature.make(
            type, over: type == .binary ? .document(Self.content) : .text(Self.content), by: signer, at: Holder.time
        ) { $0.intendedRecipients = recipients ?? [recipient.certificate.fingerprint] }
        var announcement = OnePassSignature(signature, by: (announcedBy ?? signer).publicKey).encoded
        if let announced { announcement[1] = announced.rawValue }
        return Parts(
            announcement: Forge.packet(.onePassSignature, announcement),
            literal: Forge.packet(.literalData, LiteralData.encode(Self.content, format: format, at: Holder.time)),
            signature: Forge.packet(.signature, signature.body))
    }

    /// The bytes of ``parts(by:for:type:announced:announcedBy:format:)``.
    func packets(by signer: SigningKeyPair? = nil, for recipients: [Fingerprint]? = nil) async throws -> [UInt8] {
        try await parts(by: signer, for: recipients).whole
    }

    /// A message without a mistake.
    func sealed() async throws -> [UInt8] {
        try Forge.seal(try await packets(), to: recipient.encryption.publicKey)
    }

    /// Opens a message as its recipient.
    @discardableResult
    func open(
        _ message: [UInt8], with key: DecryptionKeyPair? = nil, signers: [CertifiedKey]? = nil,
        now: UnixSeconds = Holder.time
    ) async throws -> VerifiedMessage {
        try await EncryptedMessage.open(
            message, with: key ?? recipient.encryption, signers: signers ?? sender.certificate.keys,
            intendedRecipient: recipient.certificate.fingerprint, now: now)
    }

    /// Encrypts packets and opens the message as its recipient.
    @discardableResult
    func open(packets: [UInt8]) async throws -> VerifiedMessage {
        try await open(try Forge.seal(packets, to: recipient.encryption.publicKey))
    }
}
