extension OpenPGPError {
    /// The broken rule in words for a person, without any name of this module's.
    public var words: String {
        switch self {
        case .truncated: "it ends in the middle"
        case .malformedHeader: "a packet's header has a form that there is not"
        case .malformedPacket(let tag): "the content of \(tag.words) is malformed"
        case .unexpectedPacket(let tag): "there is \(tag.words) where none may be"
        case .unsupportedVersion(let tag, let version):
            "\(tag.words) is of version \(version), which is not supported"
        case .trailingData: "something follows behind its end"
        case .tooLarge: "it is too large"
        case .malformedArmor: "its armor is malformed"
        case .armorChecksum: "the checksum of its armor does not match"
        case .malformedCleartext: "it is not a text signed in the clear"
        case .unsupportedKeyAlgorithm(let id): "a key or signature is of algorithm \(id); it must be ECDSA or ECDH"
        case .weakKey(let bits): "a key has \(bits) bits, which is too short"
        case .unsupportedCurve: "a key is not on the curve NIST P-256"
        case .unsupportedHash(let id): "hash algorithm \(id) is not supported"
        case .weakHash(let id): "hash algorithm \(id) is broken"
        case .unsupportedCipher(let id): "cipher \(id) is not supported"
        case .compressedData: "it is compressed"
        case .noIntegrityProtection: "it is encrypted without protection of its integrity"
        case .unknownCriticalSubpacket(let type): "a signature has a critical subpacket of type \(type)"
        case .unknownCriticalNotation: "a signature has a critical notation"
        case .unexpectedSignatureType(let type): "there is a signature of type \(type) where none may be"
        case .badSignature: "a signature does not verify"
        case .unknownSigner: "it is signed by another key"
        case .badSignatureTime: "a signature is dated before its key, or in the future"
        case .signatureExpired: "a signature has expired"
        case .notSigned: "it is not signed"
        case .severalSignatures: "it is signed more than once"
        case .wrongKeyFlags: "a key's flags do not allow its use"
        case .keyExpired: "a key has expired"
        case .keyRevoked: "a key is revoked"
        case .unboundComponent(let tag): "\(tag.words) is not bound by the primary key"
        case .noUsableKey: "no key in it can be used"
        case .differentCertificate: "it is of another primary key"
        case .unsupportedKeyProtection(let usage): "secret keys are protected in way \(usage), which is not supported"
        case .unsupportedStringToKey(let type): "a passphrase is stretched in way \(type), which is not supported"
        case .passphraseNeeded: "secret keys need a passphrase"
        case .wrongPassphrase: "the passphrase is wrong"
        case .notEncrypted: "it is not encrypted"
        case .notForThisKey: "it is encrypted to another key"
        case .decryptionFailed: "it does not decrypt"
        case .wrongIntendedRecipient: "it is meant for another recipient"
        }
    }
}

extension PacketTag {
    /// The name of the packet, with its article.
    fileprivate var words: String {
        switch self {
        case .encryptedSessionKey: "an encrypted session key"
        case .signature: "a signature"
        case .onePassSignature: "the announcement of a signature"
        case .secretKey, .secretSubkey: "a secret key"
        case .publicKey: "the primary key"
        case .publicSubkey: "a subkey"
        case .compressedData: "compressed data"
        case .unprotectedData: "unprotected data"
        case .literalData: "literal data"
        case .userID: "a user ID"
        case .protectedData: "encrypted data"
        case .modificationDetection: "an integrity code"
        default: "a packet of type \(rawValue)"
        }
    }
}
