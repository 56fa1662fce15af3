import Encodings

/// A message that is signed by exactly one key and not encrypted; it contains both content and signature.
///
/// For a text that stays readable use ``CleartextMessage``, for a signature in a separate file ``DetachedSignature``.
/// Spec: RFC 9580 §10.3, the one-pass signed message.
public enum SignedMessage {
    /// The most bytes a message may have.
    public static let maximumSize = 1024 * 1024

    /// Signs content.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - signer: the key that signs.
    ///   - notations: statements of the signer about the signature.
    ///   - time: when it is signed.
    /// - Returns: the binary message; ``Armor`` makes a text of it.
    /// - Throws: the errors of the private key.
    public static func sign(
        _ content: MessageContent, by signer: SigningKeyPair, notations: [Notation] = [], at time: UnixSeconds
    ) async throws -> [UInt8] {
        try await packets(content, by: signer, at: time) { $0.notations = notations }
    }

    /// Verifies a message.
    ///
    /// - Parameters:
    ///   - message: the binary message.
    ///   - signers: the keys, one of which must have signed, for instance ``Certificate/keys`` of a certificate; judged
    ///     at the time of signing.
    ///   - now: the current time; a signature from the future is refused.
    public static func open(
        _ message: [UInt8], signers: [CertifiedKey], now: UnixSeconds
    ) throws(OpenPGPError) -> VerifiedMessage {
        guard message.count <= maximumSize else { throw .tooLarge }
        return try UnverifiedMessage(message[...]).verified(signers: signers, now: now)
    }

    /// The three packets of a signed message.
    static func packets(
        _ content: MessageContent, by signer: SigningKeyPair, at time: UnixSeconds,
        _ complete: (inout Subpackets) -> Void
    ) async throws -> [UInt8] {
        let signature = try await Signature.make(
            content.signatureType, over: content.signed, by: signer, at: time, complete)
        var packets: [UInt8] = []
        packets.append(packet: .onePassSignature, OnePassSignature(signature, by: signer.publicKey).encoded)
        packets.append(packet: .literalData, content.literalData(at: time))
        packets.append(packet: .signature, signature.body)
        return packets
    }
}

/// A signed message whose signature is not verified yet: anybody may have written it.
///
/// Only ``EncryptedMessage/openWithoutVerifying(_:with:intendedRecipient:)`` returns one.
public struct UnverifiedMessage: Sendable {
    /// The content; for a text, lines are separated by LF.
    public let content: [UInt8]
    /// The signature, which may be by any key.
    public let signature: Signature
    private let announcedKeyID: [UInt8]
    private let signed: SignedContent

    /// Reads the three packets of a signed message.
    init(_ message: ArraySlice<UInt8>) throws(OpenPGPError) {
        let packets = try Self.parts(of: message)
        let announced = try OnePassSignature(parsing: packets[0].body)
        let literal = try LiteralData(parsing: packets[1].body)
        signature = try Signature(parsing: packets[2].body)
        guard announced.type == signature.type, announced.hash == signature.hash else {
            throw .malformedPacket(.onePassSignature)
        }
        switch signature.type {
        case .binary: signed = .document(Array(literal.content))
        case .text: signed = .text(Array(literal.content))
        default: throw .unexpectedSignatureType(signature.type.rawValue)
        }
        // The announced signer must be the signer that the signature names.
        let named = signature.subpackets.issuer?.keyID ?? signature.subpackets.issuerKeyID
        guard named == nil || named == announced.keyID else { throw .malformedPacket(.onePassSignature) }
        content = literal.text
        announcedKeyID = announced.keyID
    }

    /// Verifies the signature.
    ///
    /// - Parameters:
    ///   - signers: the keys, one of which must have signed; judged at the time of signing.
    ///   - now: the current time; a signature from the future is refused.
    public func verified(signers: [CertifiedKey], now: UnixSeconds) throws(OpenPGPError) -> VerifiedMessage {
        let signer = try signature.verifySigner(among: signers, over: signed, now: now)
        guard announcedKeyID == signer.fingerprint.keyID else { throw .malformedPacket(.onePassSignature) }
        return VerifiedMessage(content: content, signature: signature, signer: signer)
    }

    /// The announcement, the content and the signature, exactly one of each.
    private static func parts(of message: ArraySlice<UInt8>) throws(OpenPGPError) -> [Packet] {
        let packets = try Packet.sequence(message)
        switch packets.first?.tag {
        case .onePassSignature?: break
        case .literalData?: throw .notSigned
        case .compressedData?: throw .compressedData
        case let tag?: throw .unexpectedPacket(tag)
        case nil: throw .truncated
        }
        guard packets.count > 1 else { throw .truncated }
        guard packets[1].tag != .onePassSignature else { throw .severalSignatures }
        guard packets[1].tag != .compressedData else { throw .compressedData }
        guard packets[1].tag == .literalData else { throw .unexpectedPacket(packets[1].tag) }
        guard packets.count > 2 else { throw .notSigned }
        guard packets[2].tag == .signature else { throw .unexpectedPacket(packets[2].tag) }
        guard packets.count == 3 else { throw packets[3].tag == .signature ? .severalSignatures : .trailingData }
        return packets
    }
}
