import Encodings

/// A text signed in the clear: people can read it, and `gpg --verify` checks it.
///
/// Spec: RFC 9580 §7.
///
/// The profile is strict, so that a person reads exactly what was signed: no line may end in a blank, which the
/// signature would not cover.
public struct CleartextMessage: Sendable {
    /// The most bytes a message may have.
    public static let maximumSize = 1024 * 1024

    /// The text: lines separated by LF, without a final LF.
    public let text: String
    /// The signature, of type ``SignatureType/text``, not yet verified.
    public let signature: Signature

    private static let opening = "-----BEGIN PGP SIGNED MESSAGE-----"
    private static let hashHeader = "Hash: "

    /// A text with its signature.
    ///
    /// Throws ``OpenPGPError/malformedCleartext`` for a text that the format cannot represent: one with a carriage
    /// return, or with a line that ends in a blank.
    public init(text: String, signature: Signature) throws(OpenPGPError) {
        guard signature.type == .text else { throw .unexpectedSignatureType(signature.type.rawValue) }
        guard Self.survives(Array(text.utf8)) else { throw .malformedCleartext }
        self.text = text
        self.signature = signature
    }

    /// Signs a text.
    ///
    /// - Parameters:
    ///   - text: lines separated by LF, none ending in a blank.
    ///   - signer: the key that signs.
    ///   - notations: statements of the signer about the signature.
    ///   - time: when it is signed.
    /// - Throws: ``OpenPGPError`` or the errors of the private key.
    public static func sign(
        _ text: String, by signer: SigningKeyPair, notations: [Notation] = [], at time: UnixSeconds
    ) async throws -> CleartextMessage {
        let signature = try await Signature.make(.text, over: .text(Array(text.utf8)), by: signer, at: time) {
            $0.notations = notations
        }
        return try CleartextMessage(text: text, signature: signature)
    }

    /// Reads a message.
    public init(parsing message: some StringProtocol) throws(OpenPGPError) {
        guard message.utf8.count <= Self.maximumSize else { throw .tooLarge }
        var lines = Armor.Lines(Array(message.utf8)[...])
        // Exactly one hash header, and no other, so that nothing unsigned can pass for text (§7).
        guard lines.next()?.elementsEqual(Self.opening.utf8) == true,
            let hash = lines.next(), hash.starts(with: Self.hashHeader.utf8),
            lines.next()?.isEmpty == true
        else { throw .malformedCleartext }
        let (signed, armor) = try Self.parts(&lines)
        guard let text = String(strictUTF8: signed) else { throw .malformedCleartext }
        let packets = try Packet.sequence(try Armor.decode(utf8: armor, as: .signature)[...])
        guard let packet = packets.first else { throw .notSigned }
        guard packets.count == 1 else { throw .severalSignatures }
        guard packet.tag == .signature else { throw .unexpectedPacket(packet.tag) }
        let signature = try Signature(parsing: packet.body)
        guard hash.dropFirst(Self.hashHeader.utf8.count).elementsEqual(signature.hash.textName.utf8) else {
            throw .malformedCleartext
        }
        try self.init(text: text, signature: signature)
    }

    /// The text without dash escapes, and the armor that follows it.
    private static func parts(
        _ lines: inout Armor.Lines
    ) throws(OpenPGPError) -> (text: [UInt8], armor: ArraySlice<UInt8>) {
        var text: [UInt8] = []
        while let armor = lines.rest, let line = lines.next() {
            if line.elementsEqual(Armor.Kind.signature.opening.utf8) { return (Array(text.dropLast()), armor) }
            let isEscaped = line.starts(with: "- ".utf8)
            guard isEscaped || line.first != UInt8(ascii: "-") else { throw .malformedCleartext }
            text += isEscaped ? line.dropFirst(2) : line
            text.append(0x0A)
        }
        throw .malformedCleartext
    }

    private static func survives(_ text: [UInt8]) -> Bool {
        !text.contains(0x0D)
            && Armor.Lines(text[...]).allSatisfy { $0.last != 0x20 && $0.last != 0x09 }
    }

    /// The message as a file: dash-escaped text and armored signature, ending in a newline.
    public var encoded: String {
        let escaped = Armor.Lines(Array(text.utf8)[...]).map { line in
            (line.first == UInt8(ascii: "-") ? "- " : "") + String(decoding: line, as: UTF8.self)
        }
        var packets: [UInt8] = []
        packets.append(packet: .signature, signature.body)
        let armor = Armor.encode(packets, as: .signature)
        let head = [Self.opening, Self.hashHeader + signature.hash.textName, ""]
        return (head + escaped).joined(separator: "\n") + "\n" + armor
    }

    /// Verifies the signature against a certificate; its key is judged at the time of signing.
    ///
    /// - Parameters:
    ///   - certificate: the certificate, one of whose keys must have signed.
    ///   - now: the current time; a signature from the future is refused.
    /// - Returns: the key that signed.
    public func verify(by certificate: Certificate, now: UnixSeconds) throws(OpenPGPError) -> CertifiedKey {
        try signature.verifySigner(among: certificate.keys, over: .text(Array(text.utf8)), now: now)
    }
}

extension Signature {
    /// Finds the signer among keys, verifies the signature, and judges the key at the time of signing.
    func verifySigner(
        among keys: [CertifiedKey], over content: SignedContent, now: UnixSeconds
    ) throws(OpenPGPError) -> CertifiedKey {
        // A signature that names no signer could be anybody's, so the profile requires a name.
        guard subpackets.issuer != nil || subpackets.issuerKeyID != nil,
            let key = keys.first(where: { names($0.publicKey) })
        else { throw .unknownSigner }
        try verify(content, by: key.publicKey)
        guard createdAt >= key.publicKey.createdAt, createdAt <= now else { throw .badSignatureTime }
        if let lifetime = subpackets.lifetime, lifetime > 0, UInt64(createdAt) + UInt64(lifetime) <= UInt64(now) {
            throw .signatureExpired
        }
        try key.check(.sign, at: createdAt)
        return key
    }
}
