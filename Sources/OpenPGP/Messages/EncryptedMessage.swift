import Encodings

/// A message that is signed by exactly one key and encrypted: the profile's only form of encrypted message.
///
/// No plaintext leaves this type before the integrity checksum is verified. Only
/// ``openWithoutVerifying(_:with:intendedRecipient:)`` returns plaintext before the signature is verified. Spec: RFC
/// 9580 §10.3.
public enum EncryptedMessage {
    /// The most bytes a message may have.
    public static let maximumSize = 1024 * 1024
    private static let maximumRecipients = 16

    /// Signs content and encrypts it to one key.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - signer: the key that signs.
    ///   - recipient: the ECDH key to encrypt to.
    ///   - intendedRecipient: the primary fingerprint of the certificate to which that key belongs.
    ///   - time: when it is signed.
    /// - Throws: ``OpenPGPError`` or the errors of the private key.
    public static func seal(
        _ content: MessageContent, signedBy signer: SigningKeyPair, to recipient: PublicKey,
        intendedRecipient: Fingerprint, at time: UnixSeconds
    ) async throws -> [UInt8] {
        let packets = try await SignedMessage.packets(content, by: signer, at: time) {
            $0.intendedRecipients = [intendedRecipient]
        }
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
    ///   - key: the key to which it must be encrypted.
    ///   - signers: the keys, one of which must have signed; judged at the time of signing.
    ///   - intendedRecipient: a primary fingerprint that the signature must name, so that a message to one person
    ///     cannot be passed on to another as if it were meant for them (§5.2.3.36); nil for messages of programs that
    ///     do not write it.
    ///   - now: the current time; a signature from the future is refused.
    /// - Throws: ``OpenPGPError``.
    public static func open(
        _ message: [UInt8], with key: DecryptionKeyPair, signers: [CertifiedKey],
        intendedRecipient: Fingerprint?, now: UnixSeconds
    ) async throws -> VerifiedMessage {
        let opened = try await decrypted(message, with: key).verified(signers: signers, now: now)
        try check(intendedRecipient, in: opened.signature)
        return opened
    }

    /// Decrypts a message and verifies only that it arrived complete.
    ///
    /// It is for callers that must read the message before they know whose key must have signed it. Until the signature
    /// is verified, nobody vouches for the content.
    ///
    /// - Parameters:
    ///   - message: the binary message.
    ///   - key: the key to which it must be encrypted.
    ///   - intendedRecipient: as for ``open(_:with:signers:intendedRecipient:now:)``; nil if the caller checks the
    ///     recipient that the signature names.
    /// - Throws: ``OpenPGPError``.
    public static func openWithoutVerifying(
        _ message: [UInt8], with key: DecryptionKeyPair, intendedRecipient: Fingerprint?
    ) async throws -> UnverifiedMessage {
        let opened = try await decrypted(message, with: key)
        try check(intendedRecipient, in: opened.signature)
        return opened
    }

    private static func decrypted(
        _ message: [UInt8], with key: DecryptionKeyPair
    ) async throws -> UnverifiedMessage {
        guard message.count <= maximumSize else { throw OpenPGPError.tooLarge }
        let (sessionKeys, protected) = try parts(of: message)
        let keyID = key.publicKey.fingerprint.keyID
        guard let own = try sessionKeys.first(where: { try SessionKey.recipientKeyID(of: $0) == keyID }) else {
            throw OpenPGPError.notForThisKey
        }
        let packets = try ProtectedData.decrypt(protected, with: try await SessionKey.decrypted(from: own, with: key))
        return try UnverifiedMessage(packets[...])
    }

    private static func check(_ intendedRecipient: Fingerprint?, in signature: Signature) throws(OpenPGPError) {
        if let intendedRecipient, !signature.subpackets.intendedRecipients.contains(intendedRecipient) {
            throw .wrongIntendedRecipient
        }
    }

    /// The session keys, then the protected data, and nothing else.
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
        case .onePassSignature, .signature, .literalData: throw .notEncrypted
        default: throw .unexpectedPacket(data.tag)
        }
        guard packets.isEmpty else { throw .trailingData }
        return (sessionKeys, data.body)
    }
}
