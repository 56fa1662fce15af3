import Crypto
import Encodings

/// What a signature says about what it covers.
///
/// Spec: RFC 9580 §5.2.1.
public enum SignatureType: UInt8, Sendable {
    /// A document, byte for byte.
    case binary = 0x00
    /// A text, its lines ended by CR LF for the hash.
    case text = 0x01
    /// A user ID belongs to a key, without any claim on how that was checked.
    case genericCertification = 0x10
    /// A user ID belongs to a key, unchecked.
    case personaCertification = 0x11
    /// A user ID belongs to a key, casually checked.
    case casualCertification = 0x12
    /// A user ID belongs to a key, positively checked.
    case positiveCertification = 0x13
    /// A subkey belongs to a primary key.
    case subkeyBinding = 0x18
    /// A signing subkey accepts its primary key.
    case primaryKeyBinding = 0x19
    /// Something about a key itself.
    case directKey = 0x1F
    /// A primary key is revoked.
    case keyRevocation = 0x20
    /// A subkey is revoked.
    case subkeyRevocation = 0x28
    /// A certification is revoked.
    case certificationRevocation = 0x30

    var isCertification: Bool {
        switch self {
        case .genericCertification, .personaCertification, .casualCertification, .positiveCertification: true
        case .binary, .text, .subkeyBinding, .primaryKeyBinding, .directKey, .keyRevocation, .subkeyRevocation,
            .certificationRevocation:
            false
        }
    }
}

/// A version 4 ECDSA signature with SHA-256, read and not yet verified.
///
/// Spec: RFC 9580 §5.2.3.
public struct Signature: Sendable {
    static let ecdsa: UInt8 = 19
    static let sha256: UInt8 = 8

    /// What the signature is about.
    public let type: SignatureType
    /// The subpackets the signature covers; issuer key ID and embedded signature also from the area it does not cover,
    /// since both are checked against keys.
    public let subpackets: Subpackets
    /// When the signature was made, which every signature must say (§5.2.3.11).
    public let createdAt: UnixSeconds
    /// The content of the packet.
    public let body: [UInt8]

    let hashedArea: [UInt8]
    private let digestPrefix: [UInt8]
    private let value: P256.Signing.ECDSASignature

    /// Reads the content of a signature packet.
    public init(parsing body: some Collection<UInt8>) throws(OpenPGPError) {
        self.body = Array(body)
        var reader = ByteReader(self.body[...])
        let version = try reader.byte()
        guard version == 4 else { throw .unsupportedVersion(.signature, version: version) }
        let typeID = try reader.byte()
        guard let type = SignatureType(rawValue: typeID) else { throw .unexpectedSignatureType(typeID) }
        self.type = type
        let algorithm = try reader.byte()
        guard algorithm == Self.ecdsa else { throw .unsupportedKeyAlgorithm(algorithm) }
        try Self.checkHash(try reader.byte())
        let hashed = try reader.bytes(Int(try reader.uint16()))
        let unhashed = try Subpackets(parsing: try reader.bytes(Int(try reader.uint16())))
        var subpackets = try Subpackets(parsing: hashed)
        guard let createdAt = subpackets.createdAt else { throw .malformedPacket(.signature) }
        subpackets.issuerKeyID = subpackets.issuerKeyID ?? unhashed.issuerKeyID
        subpackets.embeddedSignature = subpackets.embeddedSignature ?? unhashed.embeddedSignature
        self.subpackets = subpackets
        self.createdAt = createdAt
        hashedArea = Array(hashed)
        digestPrefix = Array(try reader.bytes(2))
        let r = try reader.mpi(atMost: 256, in: .signature)
        let s = try reader.mpi(atMost: 256, in: .signature)
        guard reader.isAtEnd else { throw .malformedPacket(.signature) }
        // The integers come without leading zeros and go to fixed fields of 32 bytes.
        let raw = [UInt8](repeating: 0, count: 32 - r.count) + r + [UInt8](repeating: 0, count: 32 - s.count) + s
        guard let value = try? P256.Signing.ECDSASignature(rawRepresentation: raw) else {
            throw .malformedPacket(.signature)
        }
        self.value = value
    }

    static func checkHash(_ algorithm: UInt8) throws(OpenPGPError) {
        switch algorithm {
        case sha256: return
        case 1, 2, 3: throw .weakHash(algorithm)
        default: throw .unsupportedHash(algorithm)
        }
    }

    /// Whether the signature says it was made by this key.
    ///
    /// Where it names no signer, any key could be it.
    func names(_ key: PublicKey) -> Bool {
        if let issuer = subpackets.issuer { return issuer == key.fingerprint }
        if let keyID = subpackets.issuerKeyID { return keyID == key.fingerprint.keyID }
        return true
    }

    /// Throws ``OpenPGPError/badSignature`` unless the signature is by this key over this content.
    func verify(_ content: SignedContent, by key: PublicKey) throws(OpenPGPError) {
        guard case .ecdsa(let publicKey) = key.material, names(key) else { throw .badSignature }
        let digest = content.digest(trailer: Self.trailer(type: type, hashedArea: hashedArea))
        guard digest.prefix(2).elementsEqual(digestPrefix), publicKey.isValidSignature(value, for: digest) else {
            throw .badSignature
        }
    }

    /// Signs content.
    ///
    /// The issuer's subpackets are filled in.
    static func make(
        _ type: SignatureType, over content: SignedContent, by key: SigningKeyPair, at createdAt: UnixSeconds,
        _ complete: (inout Subpackets) -> Void = { _ in }
    ) async throws -> Signature {
        var subpackets = Subpackets()
        subpackets.createdAt = createdAt
        subpackets.issuer = key.publicKey.fingerprint
        subpackets.issuerKeyID = key.publicKey.fingerprint.keyID
        complete(&subpackets)
        let hashed = subpackets.hashedArea
        let unhashed = subpackets.unhashedArea
        let digest = content.digest(trailer: trailer(type: type, hashedArea: hashed))
        let raw = try await key.privateKey.signature(for: digest).rawRepresentation
        var body = header(type: type, hashedArea: hashed)
        body.append(uint16: unhashed.count)
        body += unhashed
        body += digest.prefix(2)
        body.append(mpi: raw.prefix(32))
        body.append(mpi: raw.suffix(32))
        return try Signature(parsing: body)
    }

    private static func header(type: SignatureType, hashedArea: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [4, type.rawValue, ecdsa, sha256]
        bytes.append(uint16: hashedArea.count)
        bytes += hashedArea
        return bytes
    }

    /// Spec: RFC 9580 §5.2.4.
    private static func trailer(type: SignatureType, hashedArea: [UInt8]) -> [UInt8] {
        var bytes = header(type: type, hashedArea: hashedArea)
        let length = UInt32(bytes.count)
        bytes += [4, 0xFF]
        bytes.append(uint32: length)
        return bytes
    }
}

/// What a signature covers.
///
/// Spec: RFC 9580 §5.2.4.
enum SignedContent {
    case document([UInt8])
    case text([UInt8])
    case key(PublicKey)
    case userID(Certificate.UserID, of: PublicKey)
    case subkey(PublicKey, of: PublicKey)

    fileprivate func digest(trailer: [UInt8]) -> SHA256Digest {
        var hash = SHA256()
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
    /// The text with every line ended by CR LF.
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

    /// The text with every CR LF made an LF.
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
