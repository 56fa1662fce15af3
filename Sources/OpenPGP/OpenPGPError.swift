/// Why an OpenPGP object is refused.
///
/// Every refusal of the profile has its own case.
///
/// Clauses are those of RFC 9580 unless another document is named.
public enum OpenPGPError: Error, Equatable, Sendable {
    // MARK: Framing

    /// The input ends inside a packet or a field.
    case truncated
    /// A packet header is not allowed by any version of the format (§4.2).
    case malformedHeader
    /// The content of a packet of this type does not follow its definition.
    case malformedPacket(PacketTag)
    /// A packet is not allowed at this place.
    case unexpectedPacket(PacketTag)
    /// A packet version is outside the profile: version 6 keys and signatures, version 2 encryption among others.
    case unsupportedVersion(PacketTag, version: UInt8)
    /// Bytes follow the end of the object.
    case trailingData
    /// The object is larger, or has more parts, than the limit.
    case tooLarge

    // MARK: Armor and cleartext framework

    /// It is not an armored object of the expected kind, or not in canonical form (§6.2).
    case malformedArmor
    /// The checksum of the armor does not match (§6.1).
    case armorChecksum
    /// It is not a cleartext-signed message (§7).
    case malformedCleartext

    // MARK: Algorithms

    /// A public-key algorithm outside the profile.
    case unsupportedKeyAlgorithm(UInt8)
    /// An RSA key has fewer than 2048 bits (§12.4); longer RSA keys are outside the profile, too, but get another
    /// error.
    case weakKey(bits: Int)
    /// A curve other than NIST P-256.
    case unsupportedCurve
    /// A hash algorithm outside the profile that is not among the broken ones.
    case unsupportedHash(UInt8)
    /// A signature over MD5, SHA-1 or RIPEMD-160 (§9.5).
    case weakHash(UInt8)
    /// A symmetric cipher is outside the profile: not AES-256 for messages, or not AES for secret keys.
    case unsupportedCipher(UInt8)
    /// Compressed data: this module does not decompress.
    case compressedData
    /// Symmetrically encrypted data without integrity protection (tag 9, §5.7).
    case noIntegrityProtection

    // MARK: Signatures

    /// A critical subpacket that is not understood (§5.2.3.7).
    case unknownCriticalSubpacket(UInt8)
    /// A critical notation that is not understood (§5.2.3.24).
    case unknownCriticalNotation
    /// A signature type is not allowed at this place.
    case unexpectedSignatureType(UInt8)
    /// The signature does not verify.
    case badSignature
    /// The signature names a key that is not among the given ones.
    case unknownSigner
    /// The signature is dated before its key was made, or in the future.
    case badSignatureTime
    /// The signature has expired (§5.2.3.18).
    case signatureExpired
    /// There is no signature although one is required.
    case notSigned
    /// There is more than one signature although exactly one is required.
    case severalSignatures

    // MARK: Keys

    /// The key's flags do not allow this use (§5.2.3.29).
    case wrongKeyFlags
    /// The key had expired at the relevant time.
    case keyExpired
    /// The key was revoked at the relevant time.
    case keyRevoked
    /// A user ID or subkey has no valid self-signature.
    case unboundComponent(PacketTag)
    /// No key of the certificate can be used for this.
    case noUsableKey
    /// The certificates to merge do not have the same primary key.
    case differentCertificate

    // MARK: Secret keys

    /// A secret key is protected in a way outside the profile; the octet names the way (§3.7.2.1): 253 is AEAD, 255 and
    /// numbers of ciphers are forms without integrity protection.
    case unsupportedKeyProtection(UInt8)
    /// The passphrase is turned into a key in a way outside the profile (§3.7.1).
    case unsupportedStringToKey(UInt8)
    /// The secret keys are protected and no passphrase was given.
    case passphraseNeeded
    /// The secret keys do not open with this passphrase.
    case wrongPassphrase

    // MARK: Encryption

    /// The message is not encrypted although it must be.
    case notEncrypted
    /// The message is not encrypted to the given key.
    case notForThisKey
    /// The message cannot be decrypted: one error for every cause, so that the reply tells an attacker nothing.
    case decryptionFailed
    /// The message does not name the expected key among its intended recipients (§5.2.3.36).
    case wrongIntendedRecipient
}
