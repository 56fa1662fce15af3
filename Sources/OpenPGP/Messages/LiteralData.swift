/// Literal data: the content of a message.
///
/// Spec: RFC 9580 §5.9.
struct LiteralData {
    enum Format: UInt8 {
        case binary = 0x62
        case text = 0x74
        case utf8 = 0x75
    }

    let format: Format
    let content: ArraySlice<UInt8>

    /// The content; in a text, line ends become LF.
    var text: [UInt8] {
        switch format {
        case .binary: Array(content)
        case .text, .utf8: CanonicalText.withLineFeeds(content)
        }
    }

    init(parsing body: ArraySlice<UInt8>) throws(OpenPGPError) {
        var reader = ByteReader(body)
        guard let format = Format(rawValue: try reader.byte()) else { throw .malformedPacket(.literalData) }
        self.format = format
        // The signature does not cover the file name and the date, so they are ignored.
        _ = try reader.bytes(Int(try reader.byte()))
        _ = try reader.uint32()
        content = reader.remaining()
    }

    static func encode(_ content: [UInt8], format: Format, at time: UnixSeconds) -> [UInt8] {
        var body: [UInt8] = [format.rawValue, 0]
        body.append(uint32: time)
        return body + content
    }
}

/// The announcement of a signature, before the content that it covers.
///
/// Spec: RFC 9580 §5.4.
struct OnePassSignature {
    let type: SignatureType
    let hash: HashAlgorithm
    let keyID: [UInt8]

    init(_ signature: Signature, by key: PublicKey) {
        type = signature.type
        hash = signature.hash
        keyID = key.fingerprint.keyID
    }

    init(parsing body: ArraySlice<UInt8>) throws(OpenPGPError) {
        var reader = ByteReader(body)
        let version = try reader.byte()
        guard version == 3 else { throw .unsupportedVersion(.onePassSignature, version: version) }
        let typeID = try reader.byte()
        guard let type = SignatureType(rawValue: typeID) else { throw .unexpectedSignatureType(typeID) }
        self.type = type
        hash = try HashAlgorithm(checking: try reader.byte())
        let algorithm = try reader.byte()
        guard algorithm == Signature.ecdsa else { throw .unsupportedKeyAlgorithm(algorithm) }
        keyID = Array(try reader.bytes(8))
        // Any value but 1 announces a further signature over the same data.
        guard try reader.byte() == 1 else { throw .severalSignatures }
        guard reader.isAtEnd else { throw .malformedPacket(.onePassSignature) }
    }

    var encoded: [UInt8] {
        [3, type.rawValue, hash.rawValue, Signature.ecdsa] + keyID + [1]
    }
}
