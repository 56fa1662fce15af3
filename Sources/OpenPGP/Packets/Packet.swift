/// The type of a packet.
///
/// Spec: RFC 9580 §5.
public struct PacketTag: RawRepresentable, Hashable, Sendable {
    /// The packet type id, 0 to 63.
    public let rawValue: UInt8

    /// A tag of this number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Public-Key Encrypted Session Key.
    public static let encryptedSessionKey = PacketTag(rawValue: 1)
    /// Signature.
    public static let signature = PacketTag(rawValue: 2)
    /// One-Pass Signature.
    public static let onePassSignature = PacketTag(rawValue: 4)
    /// Secret-Key: a primary key with its secret half.
    public static let secretKey = PacketTag(rawValue: 5)
    /// Public-Key: the primary key of a certificate.
    public static let publicKey = PacketTag(rawValue: 6)
    /// Secret-Subkey: a subkey with its secret half.
    public static let secretSubkey = PacketTag(rawValue: 7)
    /// Compressed Data.
    public static let compressedData = PacketTag(rawValue: 8)
    /// Symmetrically Encrypted Data, without integrity protection.
    public static let unprotectedData = PacketTag(rawValue: 9)
    /// Marker, which is ignored.
    public static let marker = PacketTag(rawValue: 10)
    /// Literal Data.
    public static let literalData = PacketTag(rawValue: 11)
    /// User ID.
    public static let userID = PacketTag(rawValue: 13)
    /// Public-Subkey.
    public static let publicSubkey = PacketTag(rawValue: 14)
    /// Symmetrically Encrypted and Integrity Protected Data.
    public static let protectedData = PacketTag(rawValue: 18)
    /// Modification Detection Code, the end of protected data of version 1.
    public static let modificationDetection = PacketTag(rawValue: 19)

    /// Whether the packet may come in parts, or with a length that only the end of the file determines: only data
    /// packets may.
    ///
    /// Spec: RFC 9580 §4.2.1.4.
    fileprivate var mayBeStreamed: Bool {
        [.compressedData, .unprotectedData, .literalData, .protectedData].contains(self)
    }
}

/// One packet: its type and its content.
struct Packet {
    let tag: PacketTag
    let body: ArraySlice<UInt8>

    /// How many packets an object may have.
    static let maximumCount = 256

    /// Reads the packets of an object.
    ///
    /// Marker packets are dropped (RFC 9580 §5.8).
    static func sequence(_ bytes: ArraySlice<UInt8>) throws(OpenPGPError) -> [Packet] {
        var reader = ByteReader(bytes)
        var packets: [Packet] = []
        var count = 0
        while !reader.isAtEnd {
            count += 1
            guard count <= maximumCount else { throw .tooLarge }
            let packet = try next(&reader)
            if packet.tag != .marker { packets.append(packet) }
        }
        return packets
    }

    private static func next(_ reader: inout ByteReader) throws(OpenPGPError) -> Packet {
        let header = try reader.byte()
        guard header & 0x80 != 0 else { throw .malformedHeader }
        if header & 0x40 != 0 {
            let tag = PacketTag(rawValue: header & 0x3F)
            guard tag.rawValue != 0 else { throw .malformedHeader }
            return Packet(tag: tag, body: try openPGPBody(of: tag, &reader))
        }
        let tag = PacketTag(rawValue: header >> 2 & 0x0F)
        guard tag.rawValue != 0 else { throw .malformedHeader }
        return Packet(tag: tag, body: try legacyBody(of: tag, lengthType: header & 3, &reader))
    }

    /// Spec: RFC 9580 §4.2.1.
    private static func openPGPBody(
        of tag: PacketTag, _ reader: inout ByteReader
    ) throws(OpenPGPError) -> ArraySlice<UInt8> {
        var parts: [UInt8] = []
        while true {
            let first = try reader.byte()
            switch first {
            case 0..<192:
                return try end(parts, Int(first), &reader)
            case 192..<224:
                return try end(parts, Int(first - 192) << 8 + Int(try reader.byte()) + 192, &reader)
            case 255:
                return try end(parts, Int(try reader.uint32()), &reader)
            default:
                guard tag.mayBeStreamed else { throw .malformedHeader }
                let length = 1 << Int(first & 0x1F)
                // The first part must have at least 512 bytes.
                guard !parts.isEmpty || length >= 512 else { throw .malformedHeader }
                parts.append(contentsOf: try reader.bytes(length))
            }
        }
    }

    private static func end(
        _ parts: [UInt8], _ length: Int, _ reader: inout ByteReader
    ) throws(OpenPGPError) -> ArraySlice<UInt8> {
        let last = try reader.bytes(length)
        return parts.isEmpty ? last : (parts + last)[...]
    }

    /// Spec: RFC 9580 §4.2.2.
    private static func legacyBody(
        of tag: PacketTag, lengthType: UInt8, _ reader: inout ByteReader
    ) throws(OpenPGPError) -> ArraySlice<UInt8> {
        switch lengthType {
        case 0: return try reader.bytes(Int(try reader.byte()))
        case 1: return try reader.bytes(Int(try reader.uint16()))
        case 2: return try reader.bytes(Int(try reader.uint32()))
        default:
            guard tag.mayBeStreamed else { throw .malformedHeader }
            return reader.remaining()
        }
    }
}

extension [UInt8] {
    /// Appends a packet with the shortest header of the current format.
    ///
    /// Spec: RFC 9580 §4.2.1.
    mutating func append(packet tag: PacketTag, _ body: some Collection<UInt8>) {
        append(0xC0 | tag.rawValue)
        append(packetLength: body.count)
        append(contentsOf: body)
    }

    mutating func append(packetLength length: Int) {
        switch length {
        case 0..<192:
            append(UInt8(length))
        case 192..<8384:
            append(uint16: length - 192 + 192 << 8)
        default:
            append(255)
            append(uint32: UInt32(length))
        }
    }
}
