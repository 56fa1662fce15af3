import Crypto
import Encodings

/// The type of a signature: what it states about its subject.
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
    /// A statement about a key itself.
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

/// A version 4 ECDSA signature, parsed and not yet verified.
///
/// Spec: RFC 9580 §5.2.3.
public struct Signature: Sendable {
    static let ecdsa: UInt8 = 19

    /// The type of the signature.
    public let type: SignatureType
    /// The subpackets that the signature covers.
    ///
    /// The issuer key ID and the embedded signature may also come from the area that it does not cover, because both
    /// are checked against keys.
    public let subpackets: Subpackets
    /// When the signature was made; every signature must state this (§5.2.3.11).
    public let createdAt: UnixSeconds
    /// The content of the packet.
    public let body: [UInt8]
    /// The subpackets that the signature covers, in their order in the packet.
    public let hashedSubpackets: [Subpacket]
    /// The size of the subpackets that the signature covers, in octets.
    public var hashedSize: Int { hashedArea.count }

    let hash: HashAlgorithm
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
        hash = try HashAlgorithm(checking: try reader.byte())
        let hashed = try reader.bytes(Int(try reader.uint16()))
        let unhashed = try Subpackets(try Subpacket.sequence(try reader.bytes(Int(try reader.uint16()))))
        hashedSubpackets = try Subpacket.sequence(hashed)
        var subpackets = try Subpackets(hashedSubpackets)
        guard let createdAt = subpackets.createdAt else { throw .malformedPacket(.signature) }
        subpackets.issuerKeyID = subpackets.issuerKeyID ?? unhashed.issuerKeyID
        subpackets.embeddedSignature = subpackets.embeddedSignature ?? unhashed.embeddedSignature
        self.subpackets = subpackets
        self.createdAt = createdAt
        hashedArea = Array(hashed)
        digestPrefix = Array(try reader.bytes(2))
        let raw = try reader.scalar(in: .signature) + reader.scalar(in: .signature)
        guard reader.isAtEnd else { throw .malformedPacket(.signature) }
        guard let value = try? P256.Signing.ECDSASignature(rawRepresentation: raw) else {
            throw .malformedPacket(.signature)
        }
        self.value = value
    }

    /// The bytes that identify this signature: all but the area that it does not cover, which anybody can change.
    var identity: [UInt8] { Self.header(type: type, hash: hash, hashedArea: hashedArea) + value.rawRepresentation }

    /// The same signature with the least possible content in the area that it does not cover.
    ///
    /// Anybody can change that area, and some programs accept only little in it. It keeps the key ID of the signer, and
    /// a back signature that is in this area.
    ///
    /// - Parameters:
    ///   - signer: the key that made it, which the caller has determined.
    ///   - subkey: the key that made the back signature; nil if there is none to keep.
    public func canonical(by signer: Fingerprint, backSignedBy subkey: Fingerprint? = nil) throws(OpenPGPError)
        -> Signature
    {
        var kept = Subpackets()
        kept.issuerKeyID = signer.keyID
        var unhashed = kept.unhashedArea
        if let subkey, let embedded = subpackets.embeddedSignature, !hashedSubpackets.contains(where: { $0.type == 32 })
        {
            unhashed += Subpackets.unhashed(try Signature(parsing: embedded).canonical(by: subkey))
        }
        return try Signature(
            parsing: Self.body(
                type: type, hash: hash, hashedArea: hashedArea, unhashedArea: unhashed, digestPrefix: digestPrefix,
                value: Array(value.rawRepresentation)))
    }

    /// Whether another signature is the same, whatever is in the areas that the signatures do not cover.
    public func isSame(as other: Signature) -> Bool { identity == other.identity }

    /// Whether a signature packet may be a signature by a key of the profile.
    ///
    /// A packet that is too short to tell, or of another version, passes: the parser refuses it with its own error.
    static func mayBeECDSA(_ body: ArraySlice<UInt8>) -> Bool {
        let header = body.prefix(3)
        guard header.count == 3, header.first == 4, let algorithm = header.last else { return true }
        return algorithm == ecdsa
    }

    /// Whether the signature may name this key as its signer.
    ///
    /// If it names no signer, any key may have made it.
    func names(_ key: PublicKey) -> Bool {
        if let issuer = subpackets.issuer { return issuer == key.fingerprint }
        if let keyID = subpackets.issuerKeyID { return keyID == key.fingerprint.keyID }
        return true
    }

    /// Throws ``OpenPGPError/badSignature`` unless this key made the signature over this content.
    func verify(_ content: SignedContent, by key: PublicKey) throws(OpenPGPError) {
        guard case .ecdsa(let publicKey) = key.material, names(key) else { throw .badSignature }
        let isValid =
            switch hash {
            case .sha256: isValid(SHA256.self, content, by: publicKey)
            case .sha384: isValid(SHA384.self, content, by: publicKey)
            case .sha512: isValid(SHA512.self, content, by: publicKey)
            }
        guard isValid else { throw .badSignature }
    }

    private func isValid<Hash: HashFunction>(
        _: Hash.Type, _ content: SignedContent, by key: P256.Signing.PublicKey
    ) -> Bool {
        let trailer = Self.trailer(type: type, hash: hash, hashedArea: hashedArea)
        let digest = content.digest(Hash.self, trailer: trailer)
        return digest.prefix(2).elementsEqual(digestPrefix) && key.isValidSignature(value, for: digest)
    }

    /// Signs content.
    ///
    /// The method fills in the subpackets that name the signer.
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
        let digest = content.digest(trailer: trailer(type: type, hash: .sha256, hashedArea: hashed))
        let raw = try await key.privateKey.signature(for: digest).rawRepresentation
        return try Signature(
            parsing: body(
                type: type, hash: .sha256, hashedArea: hashed, unhashedArea: unhashed,
                digestPrefix: Array(digest.prefix(2)), value: Array(raw)))
    }

    /// Spec: RFC 9580 §5.2.3.
    private static func body(
        type: SignatureType, hash: HashAlgorithm, hashedArea: [UInt8], unhashedArea: [UInt8], digestPrefix: [UInt8],
        value: [UInt8]
    ) -> [UInt8] {
        var body = header(type: type, hash: hash, hashedArea: hashedArea)
        body.append(uint16: unhashedArea.count)
        body += unhashedArea + digestPrefix
        body.append(mpi: value.prefix(32))
        body.append(mpi: value.suffix(32))
        return body
    }

    private static func header(type: SignatureType, hash: HashAlgorithm, hashedArea: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [4, type.rawValue, ecdsa, hash.rawValue]
        bytes.append(uint16: hashedArea.count)
        bytes += hashedArea
        return bytes
    }

    /// Spec: RFC 9580 §5.2.4.
    private static func trailer(type: SignatureType, hash: HashAlgorithm, hashedArea: [UInt8]) -> [UInt8] {
        var bytes = header(type: type, hash: hash, hashedArea: hashedArea)
        let length = UInt32(bytes.count)
        bytes += [4, 0xFF]
        bytes.append(uint32: length)
        return bytes
    }
}
