import Encodings

/// A message that is signed by exactly one key and encrypted: the only form of message in the profile.
///
/// No plaintext leaves this type before both the integrity checksum and the signature were checked.
/// Spec: RFC 9580 §10.3.
public enum EncryptedMessage {
    /// The most bytes a message may have.
    public static let maximumSize = 1024 * 1024
    private static let maximumRecipients = 16

    /// How the signature covers the content.
    public enum Content: Sendable {
        /// Byte for byte.
        case binary([UInt8])
        /// As a text: lines are separated by LF here and by CR LF in the message.
        case text(String)
    }

    /// What a message turned out to say, and who said it.
    public struct Opened: Sendable {
        /// The content; for a text, lines are separated by LF.
        public let content: [UInt8]
        /// The signature that was verified.
        public let signature: Signature
        /// The key that made it.
        public let signer: CertifiedKey
    }

    /// Signs content and encrypts it to one key.
    ///
    /// - Parameters:
    ///   - content: what is said.
    ///   - signer: the key that signs.
    ///   - recipient: the ECDH key to encrypt to.
    ///   - intendedRecipient: the primary fingerprint of the certificate that key belongs to.
    ///   - time: when it is signed.
    /// - Throws: ``OpenPGPError`` or what the private key throws.
    public static func seal(
        _ content: Content, signedBy signer: SigningKeyPair, to recipient: PublicKey,
        intendedRecipient: Fingerprint, at time: UnixSeconds
    ) async throws -> [UInt8] {
        let type: SignatureType
        let signed: SignedContent
        let literal: [UInt8]
        switch content {
        case .binary(let bytes):
            (type, signed, literal) = (.binary, .document(bytes), LiteralData.encode(bytes, format: .binary, at: time))
        case .text(let text):
            let lines = CanonicalText.withNetworkLineEnds(Array(text.utf8))
            (type, signed, literal) = (.text, .text(lines), LiteralData.encode(lines, format: .utf8, at: time))
        }
        let signature = try await Signature.make(type, over: signed, by: signer, at: time) {
            $0.intendedRecipients = [intendedRecipient]
        }
        var packets: [UInt8] = []
        packets.append(packet: .onePassSignature, OnePassSignature(signature, by: signer.publicKey).encoded)
        packets.append(packet: .literalData, literal)
        packets.append(packet: .signature, signature.body)

        let sessionKey = SessionKey()
        var message: [UInt8] = []
        message.append(packet: .encryptedSessionKey, try sessionKey.encrypted(to: recipient))
        message.append(packet: .protectedData, try ProtectedData.encrypt(packets, with: sessionKey))
        return message
    }

    /// Decrypts a message and verifies its signature.
    ///
    /// - Parameters:
    ///   - message: the binary message.
    ///   - key: the key it must be encrypted to.
    ///   - signers: the keys one of which must have signed; judged at the time of signing.
    ///   - intendedRecipient: a primary fingerprint the signature must name, so that a message to one person cannot
    ///     be passed on to another as if it were meant for them (§5.2.3.36); nil for messages of programs that do not
    ///     write it.
    ///   - now: the present; a signature from the future is refused.
    /// - Throws: ``OpenPGPError``.
    public static func open(
        _ message: [UInt8], with key: DecryptionKeyPair, signers: [CertifiedKey],
        intendedRecipient: Fingerprint?, now: UnixSeconds
    ) async throws -> Opened {
        guard message.count <= maximumSize else { throw OpenPGPError.tooLarge }
        let (sessionKeys, protected) = try parts(of: message)
        let keyID = key.publicKey.fingerprint.keyID
        guard let own = try sessionKeys.first(where: { try SessionKey.recipientKeyID(of: $0) == keyID }) else {
            throw OpenPGPError.notForThisKey
        }
        let packets = try ProtectedData.decrypt(protected, with: try await SessionKey.decrypted(from: own, with: key))
        return try verified(packets, signers: signers, intendedRecipient: intendedRecipient, now: now)
    }

    /// Session keys, then the protected data, then nothing.
    private static func parts(
        of message: [UInt8]
    ) throws(OpenPGPError) -> (sessionKeys: [ArraySlice<UInt8>], protected: ArraySlice<UInt8>) {
        var packets = try Packet.sequence(message[...])[...]
        var sessionKeys: [ArraySlice<UInt8>] = []
        while packets.first?.tag == .encryptedSessionKey { sessionKeys.append(packets.removeFirst().body) }
        guard sessionKeys.count <= maximumRecipients else { throw .tooLarge }
        guard let data = packets.popFirst() else { throw .truncated }
        switch data.tag {
        case .protectedData: break
        case .unprotectedData: throw .noIntegrityProtection
        case .compressedData: throw .compressedData
        default: throw .unexpectedPacket(data.tag)
        }
        guard packets.isEmpty else { throw .trailingData }
        return (sessionKeys, data.body)
    }

    /// Spec: RFC 9580 §10.3, the one-pass signed message, with exactly one signature.
    private static func verified(
        _ plaintext: [UInt8], signers: [CertifiedKey], intendedRecipient: Fingerprint?, now: UnixSeconds
    ) throws(OpenPGPError) -> Opened {
        let packets = try Packet.sequence(plaintext[...])
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

        let announced = try OnePassSignature(parsing: packets[0].body)
        let literal = try LiteralData(parsing: packets[1].body)
        let signature = try Signature(parsing: packets[2].body)
        guard announced.type == signature.type else { throw .malformedPacket(.onePassSignature) }
        let signed: SignedContent
        switch signature.type {
        case .binary: signed = .document(Array(literal.content))
        case .text: signed = .text(Array(literal.content))
        default: throw .unexpectedSignatureType(signature.type.rawValue)
        }
        let signer = try signature.verifySigner(among: signers, over: signed, now: now)
        guard announced.keyID == signer.fingerprint.keyID else { throw .malformedPacket(.onePassSignature) }
        if let intendedRecipient, !signature.subpackets.intendedRecipients.contains(intendedRecipient) {
            throw .wrongIntendedRecipient
        }
        return Opened(content: literal.text, signature: signature, signer: signer)
    }
}
