import Encodings

/// The permitted uses of a key.
///
/// Spec: RFC 9580 §5.2.3.29.
public struct KeyFlags: OptionSet, Hashable, Sendable {
    /// The first octet of the flags.
    public let rawValue: UInt8

    /// Flags of this octet.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// May certify keys.
    public static let certify = KeyFlags(rawValue: 0x01)
    /// May sign data.
    public static let sign = KeyFlags(rawValue: 0x02)
    /// May encrypt communications.
    public static let encryptCommunications = KeyFlags(rawValue: 0x04)
    /// May encrypt storage.
    public static let encryptStorage = KeyFlags(rawValue: 0x08)
    /// May be used for authentication.
    public static let authenticate = KeyFlags(rawValue: 0x20)
    /// May encrypt both communications and storage.
    public static let encrypt: KeyFlags = [.encryptCommunications, .encryptStorage]
}

/// A statement of the signer, named in the form `name@domain`.
///
/// Spec: RFC 9580 §5.2.3.24.
public struct Notation: Hashable, Sendable {
    /// The name, with the domain that defines it.
    public let name: String
    /// The value, a text.
    public let value: String

    /// A notation of this name and value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Why a key was revoked.
///
/// Spec: RFC 9580 §5.2.3.31.
public enum RevocationReason: UInt8, Sendable {
    /// No reason given: no signature of the key counts.
    case unspecified = 0
    /// Superseded: earlier signatures stay valid.
    case superseded = 1
    /// Compromised: no signature of the key counts.
    case compromised = 2
    /// Retired: earlier signatures stay valid.
    case retired = 3

    /// Whether signatures made before the revocation stay valid.
    public var keepsEarlierSignatures: Bool { self == .superseded || self == .retired }
}

/// One subpacket of a signature, whether this module understands it or not.
///
/// Spec: RFC 9580 §5.2.3.7.
public struct Subpacket: Hashable, Sendable {
    /// The kind, 0 to 127.
    public let type: UInt8
    /// Whether a program that does not understand it must refuse the signature.
    public let isCritical: Bool
    /// The bytes after the type.
    public let content: [UInt8]

    /// Reads an area, subpacket by subpacket.
    static func sequence(_ area: ArraySlice<UInt8>) throws(OpenPGPError) -> [Subpacket] {
        var reader = ByteReader(area)
        var subpackets: [Subpacket] = []
        while !reader.isAtEnd {
            let length = try length(&reader)
            var body = ByteReader(try reader.bytes(length))
            guard !body.isAtEnd else { throw .malformedPacket(.signature) }
            let header = try body.byte()
            subpackets.append(
                Subpacket(type: header & 0x7F, isCritical: header & 0x80 != 0, content: Array(body.remaining())))
        }
        return subpackets
    }

    private static func length(_ reader: inout ByteReader) throws(OpenPGPError) -> Int {
        let first = try reader.byte()
        switch first {
        case 0..<192: return Int(first)
        case 192..<255: return Int(first - 192) << 8 + Int(try reader.byte()) + 192
        default: return Int(try reader.uint32())
        }
    }
}

/// The subpackets of a signature that this module understands.
///
/// Spec: RFC 9580 §5.2.3.7.
public struct Subpackets: Sendable {
    /// When the signature was made (type 2).
    public var createdAt: UnixSeconds?
    /// How many seconds the signature is valid (type 3).
    public var lifetime: UInt32?
    /// How many seconds after its creation the key expires (type 9).
    public var keyLifetime: UInt32?
    /// The key ID of the signer (type 16).
    public var issuerKeyID: [UInt8]?
    /// The fingerprint of the signer (type 33).
    public var issuer: Fingerprint?
    /// The permitted uses of the key (type 27).
    public var keyFlags: KeyFlags?
    /// Statements of the signer (type 20).
    public var notations: [Notation] = []
    /// The primary fingerprints of the intended recipients (type 35).
    public var intendedRecipients: [Fingerprint] = []
    /// Why a key is revoked (type 29).
    public var revocationReason: RevocationReason?
    /// The explanation of the revocation for people (type 29).
    public var revocationNote = ""
    /// A signature inside the signature (type 32).
    public var embeddedSignature: [UInt8]?
    /// Whether the signature states the preferences of this profile (types 11, 21, 22, 30): SHA-256, AES-256, no
    /// compression, integrity protection.
    ///
    /// They are written and not read: the profile leaves no choice.
    public var statesPreferences = false

    /// No subpackets.
    public init() {}
}

extension Subpackets {
    /// Reads one area of a signature packet.
    init(parsing area: ArraySlice<UInt8>) throws(OpenPGPError) {
        try self.init(try Subpacket.sequence(area))
    }

    /// Reads the subpackets of one area.
    ///
    /// A subpacket that may occur only once must not be repeated.
    init(_ subpackets: [Subpacket]) throws(OpenPGPError) {
        self.init()
        var seen: Set<UInt8> = []
        for subpacket in subpackets {
            let type = subpacket.type
            // Notations (20) and intended recipients (35) may repeat.
            guard type == 20 || type == 35 || seen.insert(type).inserted else { throw .malformedPacket(.signature) }
            var body = ByteReader(subpacket.content[...])
            try read(type: type, isCritical: subpacket.isCritical, &body)
        }
    }

    private mutating func read(
        type: UInt8, isCritical: Bool, _ body: inout ByteReader
    ) throws(OpenPGPError) {
        switch type {
        case 2: createdAt = try body.uint32()
        case 3: lifetime = try body.uint32()
        case 9: keyLifetime = try body.uint32()
        case 16: issuerKeyID = Array(try body.bytes(8))
        case 20: try readNotation(isCritical: isCritical, &body)
        case 27: keyFlags = KeyFlags(rawValue: body.isAtEnd ? 0 : Array(body.remaining())[0])
        case 29:
            revocationReason = RevocationReason(rawValue: try body.byte()) ?? .unspecified
            revocationNote = String(strictUTF8: body.remaining()) ?? ""
        case 32: embeddedSignature = Array(body.remaining())
        case 33: issuer = try Self.fingerprint(&body)
        case 35: intendedRecipients.append(try Self.fingerprint(&body))
        case 4, 7, 11, 21, 22, 23, 25, 30, 34:
            // These are understood and have no effect here: exportable, revocable, preferences, key server, primary
            // user ID, features.
            break
        default:
            guard !isCritical else { throw .unknownCriticalSubpacket(type) }
        }
        // A subpacket of fixed size must have no bytes left over.
        if [2, 3, 9, 16, 33, 35].contains(type), !body.isAtEnd { throw .malformedPacket(.signature) }
    }

    private mutating func readNotation(isCritical: Bool, _ body: inout ByteReader) throws(OpenPGPError) {
        let isText = try body.uint32() & 0x8000_0000 != 0
        let nameLength = Int(try body.uint16())
        let valueLength = Int(try body.uint16())
        let name = String(strictUTF8: try body.bytes(nameLength))
        let value = String(strictUTF8: try body.bytes(valueLength))
        guard body.isAtEnd else { throw .malformedPacket(.signature) }
        // This module gives no notation a meaning, so it must refuse a critical one.
        guard !isCritical else { throw .unknownCriticalNotation }
        if isText, let name, let value { notations.append(Notation(name: name, value: value)) }
    }

    private static func fingerprint(_ body: inout ByteReader) throws(OpenPGPError) -> Fingerprint {
        let version = try body.byte()
        guard version == 4 else { throw .unsupportedVersion(.signature, version: version) }
        guard let fingerprint = Fingerprint(bytes: try body.bytes(20)) else { throw .truncated }
        return fingerprint
    }

    /// The area of hashed subpackets; the issuer's key ID, for which older programs look, goes to the unhashed area.
    var hashedArea: [UInt8] {
        var area: [UInt8] = []
        if let createdAt { area.append(subpacket: 2) { $0.append(uint32: createdAt) } }
        if let issuer { area.append(subpacket: 33) { $0 += [4] + issuer.bytes } }
        if let lifetime { area.append(subpacket: 3) { $0.append(uint32: lifetime) } }
        if let keyLifetime { area.append(subpacket: 9) { $0.append(uint32: keyLifetime) } }
        if let keyFlags { area.append(subpacket: 27) { $0.append(keyFlags.rawValue) } }
        if statesPreferences {
            area.append(subpacket: 11) { $0.append(9) }
            area.append(subpacket: 21) { $0.append(8) }
            area.append(subpacket: 22) { $0.append(0) }
            area.append(subpacket: 30) { $0.append(0x01) }
        }
        for notation in notations {
            area.append(subpacket: 20) {
                $0 += [0x80, 0, 0, 0]
                $0.append(uint16: notation.name.utf8.count)
                $0.append(uint16: notation.value.utf8.count)
                $0 += Array(notation.name.utf8) + Array(notation.value.utf8)
            }
        }
        for recipient in intendedRecipients { area.append(subpacket: 35) { $0 += [4] + recipient.bytes } }
        if let revocationReason {
            area.append(subpacket: 29) { $0 += [revocationReason.rawValue] + Array(revocationNote.utf8) }
        }
        if let embeddedSignature { area.append(subpacket: 32) { $0 += embeddedSignature } }
        return area
    }

    var unhashedArea: [UInt8] {
        var area: [UInt8] = []
        if let issuerKeyID { area.append(subpacket: 16) { $0 += issuerKeyID } }
        return area
    }

    /// A back signature as a subpacket of the unhashed area.
    static func unhashed(_ backSignature: Signature) -> [UInt8] {
        var area: [UInt8] = []
        area.append(subpacket: 32) { $0 += backSignature.body }
        return area
    }
}

extension [UInt8] {
    fileprivate mutating func append(subpacket type: UInt8, _ content: (inout [UInt8]) -> Void) {
        var body = [type]
        content(&body)
        append(packetLength: body.count)
        append(contentsOf: body)
    }
}
