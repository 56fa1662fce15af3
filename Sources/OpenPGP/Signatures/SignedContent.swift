import Crypto

/// The content that a signature covers.
///
/// Spec: RFC 9580 §5.2.4.
enum SignedContent {
    case document([UInt8])
    case text([UInt8])
    case key(PublicKey)
    case userID(Certificate.UserID, of: PublicKey)
    case subkey(PublicKey, of: PublicKey)

    /// The hash of the content and of the signature's own hashed fields.
    func digest<Hash: HashFunction>(_: Hash.Type = SHA256.self, trailer: [UInt8]) -> Hash.Digest {
        var hash = Hash()
        switch self {
        case .document(let bytes):
            hash.update(data: bytes)
        case .text(let bytes):
            hash.update(data: CanonicalText.withNetworkLineEnds(bytes))
        case .key(let key):
            hash.update(data: PublicKey.hashed(key.body))
        case .userID(let userID, let key):
            var prefix: [UInt8] = [0xB4]
            prefix.append(uint32: UInt32(userID.bytes.count))
            hash.update(data: PublicKey.hashed(key.body) + prefix + userID.bytes)
        case .subkey(let subkey, let primary):
            hash.update(data: PublicKey.hashed(primary.body) + PublicKey.hashed(subkey.body))
        }
        hash.update(data: trailer)
        return hash.finalize()
    }
}

/// Line ends of texts.
///
/// Spec: RFC 9580 §5.2.1.2, §5.9.
enum CanonicalText {
    /// The text with CR LF as its line ends.
    static func withNetworkLineEnds(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 32)
        var previous: UInt8 = 0
        for byte in text {
            if byte == 0x0A, previous != 0x0D { bytes.append(0x0D) }
            bytes.append(byte)
            previous = byte
        }
        return bytes
    }

    /// The text with every CR LF replaced by LF.
    static func withLineFeeds(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for byte in text {
            if byte == 0x0A, bytes.last == 0x0D { bytes.removeLast() }
            bytes.append(byte)
        }
        return bytes
    }
}
