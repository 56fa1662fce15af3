import Encodings

/// A signature in a file separate from the content.
///
/// Spec: RFC 9580 §10.4.
public struct DetachedSignature: Sendable {
    /// The most bytes its file may have.
    public static let maximumSize = 64 * 1024

    /// The signature, of type ``SignatureType/binary`` or ``SignatureType/text``, not yet verified.
    public let signature: Signature

    /// A signature that is stored separately from its content.
    ///
    /// Throws ``OpenPGPError/unexpectedSignatureType(_:)`` for a signature that is not over a document.
    public init(_ signature: Signature) throws(OpenPGPError) {
        guard signature.type == .binary || signature.type == .text else {
            throw .unexpectedSignatureType(signature.type.rawValue)
        }
        self.signature = signature
    }

    /// Signs content.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - signer: the key that signs.
    ///   - notations: statements of the signer about the signature.
    ///   - time: when it is signed.
    /// - Throws: the errors of the private key.
    public static func sign(
        _ content: MessageContent, by signer: SigningKeyPair, notations: [Notation] = [], at time: UnixSeconds
    ) async throws -> DetachedSignature {
        let signature = try await Signature.make(
            content.signatureType, over: content.signed, by: signer, at: time
        ) {
            $0.notations = notations
        }
        return try DetachedSignature(signature)
    }

    /// Reads a signature: one packet and nothing else.
    public init(parsing bytes: some Collection<UInt8>) throws(OpenPGPError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        let packets = try Packet.sequence(Array(bytes)[...])
        guard let packet = packets.first else { throw .notSigned }
        guard packet.tag == .signature else { throw .unexpectedPacket(packet.tag) }
        guard packets.count == 1 else {
            throw packets[1].tag == .signature ? .severalSignatures : .trailingData
        }
        try self.init(try Signature(parsing: packet.body))
    }

    /// Reads an armored signature.
    public init(armored text: some StringProtocol) throws(OpenPGPError) {
        try self.init(parsing: try Armor.decode(text, as: .signature))
    }

    /// The signature as a binary file, in the format of `gpg --detach-sign`.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(packet: .signature, signature.body)
        return bytes
    }

    /// The signature in armor, in the format of `gpg --armor --detach-sign`.
    public var armored: String { Armor.encode(encoded, as: .signature) }

    /// Verifies the signature over content; its key is judged at the time of signing.
    ///
    /// - Parameters:
    ///   - content: the bytes of the signed file; for a signature of type ``SignatureType/text`` its lines may end in
    ///     LF or in CR LF.
    ///   - certificate: the certificate, one of whose keys must have signed.
    ///   - now: the current time; a signature from the future is refused.
    /// - Returns: the key that signed.
    public func verify(
        _ content: [UInt8], by certificate: Certificate, now: UnixSeconds
    ) throws(OpenPGPError) -> CertifiedKey {
        let signed: SignedContent = signature.type == .text ? .text(content) : .document(content)
        return try signature.verifySigner(among: certificate.keys, over: signed, now: now)
    }
}
