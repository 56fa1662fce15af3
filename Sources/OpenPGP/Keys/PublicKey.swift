public import Crypto
import Encodings

/// Seconds since 1970-01-01T00:00:00Z, OpenPGP's format of time.
///
/// Spec: RFC 9580 §3.5.
public typealias UnixSeconds = UInt32

/// The fingerprint of a version 4 key: 20 bytes.
///
/// Spec: RFC 9580 §5.5.4.2.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The 20 bytes.
    public let bytes: [UInt8]

    /// A fingerprint of 20 bytes, or nil.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 20 else { return nil }
        self.bytes = Array(bytes)
    }

    init(_ digest: Insecure.SHA1.Digest) {
        bytes = Array(digest)
    }

    /// A fingerprint written as 40 hexadecimal digits in either case, or nil.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Hex.decodeIgnoringCase(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 40 upper case hexadecimal digits, as gpg prints it.
    public var description: String { Hex.encodeUppercase(bytes) }

    /// The last 8 bytes, the version 4 key ID.
    public var keyID: [UInt8] { Array(bytes.suffix(8)) }
}

/// A version 4 public key of the profile: NIST P-256 for ECDSA or for ECDH.
///
/// Spec: RFC 9580 §5.5.2.2, §5.5.5.4, §5.5.5.6.
public struct PublicKey: Sendable {
    /// The algorithm of the key, with its public point.
    public enum Material: Sendable {
        /// ECDSA over P-256 (algorithm 19).
        case ecdsa(P256.Signing.PublicKey)
        /// ECDH over P-256 (algorithm 18) with SHA-256 and this key wrap.
        case ecdh(P256.KeyAgreement.PublicKey, keyWrap: KeyWrap)
    }

    /// The cipher that wraps session keys: part of an ECDH key.
    ///
    /// Spec: RFC 9580 §9.3.
    public enum KeyWrap: UInt8, Sendable {
        /// AES with 128-bit keys.
        case aes128 = 7
        /// AES with 256-bit keys.
        case aes256 = 9
    }

    /// When the key was made.
    public let createdAt: UnixSeconds
    /// The key itself.
    public let material: Material
    /// The content of the key's packet, which its fingerprint covers.
    public let body: [UInt8]
    /// The fingerprint.
    public let fingerprint: Fingerprint

    /// The point of the curve, uncompressed: anybody who knows its private half has this key and every other key of the
    /// same point.
    public var point: [UInt8] {
        switch material {
        case .ecdsa(let key): Array(key.x963Representation)
        case .ecdh(let key, _): Array(key.x963Representation)
        }
    }

    static let curveOID: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let ecdsa: UInt8 = 19
    private static let ecdh: UInt8 = 18
    private static let rsa: ClosedRange<UInt8> = 1...3

    /// A key made at a time from its material.
    public init(_ material: Material, createdAt: UnixSeconds) {
        var body: [UInt8] = [4]
        body.append(uint32: createdAt)
        let point: [UInt8]
        switch material {
        case .ecdsa(let key):
            body.append(Self.ecdsa)
            point = Array(key.x963Representation)
        case .ecdh(let key, _):
            body.append(Self.ecdh)
            point = Array(key.x963Representation)
        }
        body.append(UInt8(Self.curveOID.count))
        body.append(contentsOf: Self.curveOID)
        body.append(mpi: point)
        if case .ecdh(_, let keyWrap) = material {
            body.append(contentsOf: [3, 1, HashAlgorithm.sha256.rawValue, keyWrap.rawValue])
        }
        self.init(material, createdAt: createdAt, body: body)
    }

    private init(_ material: Material, createdAt: UnixSeconds, body: [UInt8]) {
        self.material = material
        self.createdAt = createdAt
        self.body = body
        fingerprint = Fingerprint(Insecure.SHA1.hash(data: Self.hashed(body)))
    }

    /// Reads the content of a key packet.
    ///
    /// - Parameter body: the packet's content, as ``body`` gives it.
    public init(parsing body: some Collection<UInt8>) throws(OpenPGPError) {
        try self.init(parsing: Array(body)[...], tag: .publicKey)
    }

    init(parsing body: ArraySlice<UInt8>, tag: PacketTag) throws(OpenPGPError) {
        var reader = ByteReader(body)
        try self.init(reading: &reader, tag: tag)
        guard reader.isAtEnd else { throw .malformedPacket(tag) }
    }

    /// Reads the public fields; the fields of a secret key may follow them.
    init(reading reader: inout ByteReader, tag: PacketTag) throws(OpenPGPError) {
        let start = reader
        let version = try reader.byte()
        guard version == 4 else { throw .unsupportedVersion(tag, version: version) }
        let createdAt = try reader.uint32()
        let algorithm = try reader.byte()
        guard algorithm == Self.ecdsa || algorithm == Self.ecdh else {
            if Self.rsa.contains(algorithm) { try Self.refuseShortModulus(&reader) }
            throw .unsupportedKeyAlgorithm(algorithm)
        }
        let oid = try reader.bytes(Int(try reader.byte()))
        guard oid.elementsEqual(Self.curveOID) else { throw .unsupportedCurve }
        let point = try reader.mpi(atMost: 515, in: tag)
        let material: Material
        if algorithm == Self.ecdsa {
            guard let key = try? P256.Signing.PublicKey(x963Representation: point) else { throw .malformedPacket(tag) }
            material = .ecdsa(key)
        } else {
            guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
                throw .malformedPacket(tag)
            }
            material = .ecdh(key, keyWrap: try Self.keyWrap(&reader, tag))
        }
        var fields = start
        self.init(material, createdAt: createdAt, body: Array(try fields.bytes(start.count - reader.count)))
    }

    /// Reports a modulus that is too short with its own error, so that the key's holder learns more than that RSA is
    /// outside the profile.
    ///
    /// Spec: RFC 9580 §12.4.
    private static func refuseShortModulus(_ reader: inout ByteReader) throws(OpenPGPError) {
        let bits = Int(try reader.uint16())
        guard bits >= 2048 else { throw .weakKey(bits: bits) }
    }

    /// The parameters of the key derivation function.
    ///
    /// Spec: RFC 9580 §5.5.5.6.
    private static func keyWrap(_ reader: inout ByteReader, _ tag: PacketTag) throws(OpenPGPError) -> KeyWrap {
        guard try reader.byte() == 3, try reader.byte() == 1 else { throw .malformedPacket(tag) }
        let hash = try reader.byte()
        guard hash == HashAlgorithm.sha256.rawValue else { throw .unsupportedHash(hash) }
        let cipher = try reader.byte()
        guard let keyWrap = KeyWrap(rawValue: cipher) else { throw .unsupportedCipher(cipher) }
        return keyWrap
    }

    /// The key in the form that signatures and fingerprints hash.
    ///
    /// Spec: RFC 9580 §5.2.4.
    static func hashed(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x99]
        bytes.reserveCapacity(body.count + 3)
        bytes.append(uint16: body.count)
        bytes.append(contentsOf: body)
        return bytes
    }
}
