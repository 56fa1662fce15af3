import Encodings

/// The packets of a certificate: each key and user ID with the signatures that follow it.
///
/// Spec: RFC 9580 §10.1.
struct CertificateParts {
    struct Part {
        let tag: PacketTag
        let body: [UInt8]
        var signatures: [[UInt8]]
    }

    /// The primary key, then the user IDs, then the subkeys.
    private(set) var parts: [Part]

    init(_ primary: PublicKey) {
        parts = [Part(tag: .publicKey, body: primary.body, signatures: [])]
    }

    init(_ certificate: Certificate) throws(OpenPGPError) {
        parts = []
        for packet in try Packet.sequence(certificate.encoded[...]) {
            let body = Array(packet.body)
            if packet.tag == .signature, let last = parts.indices.last {
                parts[last].signatures.append(body)
            } else {
                parts.append(Part(tag: packet.tag, body: body, signatures: []))
            }
        }
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes.append(packet: part.tag, part.body)
            for signature in part.signatures { bytes.append(packet: .signature, signature) }
        }
        return bytes
    }

    mutating func append(_ tag: PacketTag, _ body: [UInt8], signedBy signature: Signature) {
        take(in: Part(tag: tag, body: body, signatures: [signature.body]))
    }

    /// Appends a signature to a part, unless the part has it already.
    mutating func append(_ signature: Signature, to body: [UInt8]) {
        guard let index = parts.firstIndex(where: { $0.body == body }) else { return }
        take(in: Part(tag: parts[index].tag, body: body, signatures: [signature.body]))
    }

    /// Adds the signatures that a part does not have yet, or inserts the whole part.
    mutating func take(in other: Part) {
        if let index = parts.firstIndex(where: { $0.tag == other.tag && $0.body == other.body }) {
            let known = Set(parts[index].signatures.map(Self.identity))
            parts[index].signatures += other.signatures.filter { !known.contains(Self.identity(of: $0)) }
        } else if other.tag == .userID {
            parts.insert(other, at: parts.firstIndex { $0.tag == .publicSubkey } ?? parts.endIndex)
        } else {
            parts.append(other)
        }
    }

    private static func identity(of signature: [UInt8]) -> [UInt8] {
        (try? Signature(parsing: signature))?.identity ?? signature
    }
}
