import Crypto
@testable package import OpenPGP

/// A signature over a text of which a test chooses every subpacket, right in every other respect.
package enum HandmadeSignature {
    /// A subpacket with its length.
    package static func subpacket(_ type: UInt8, _ content: [UInt8], critical: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(packetLength: content.count + 1)
        return bytes + [critical ? type | 0x80 : type] + content
    }

    /// A subpacket of four octets: a time or a number of seconds.
    package static func seconds(_ type: UInt8, _ value: UnixSeconds, critical: Bool = false) -> [UInt8] {
        var content: [UInt8] = []
        content.append(uint32: value)
        return subpacket(type, content, critical: critical)
    }

    /// A subpacket that names a key by its fingerprint: the issuer (33) or a recipient (35).
    package static func key(_ type: UInt8, _ fingerprint: Fingerprint, critical: Bool = false) -> [UInt8] {
        subpacket(type, [4] + fingerprint.bytes, critical: critical)
    }

    /// A notation that is not a text, as salts are.
    package static func notation(_ name: String, _ value: [UInt8], critical: Bool = false) -> [UInt8] {
        var content: [UInt8] = [0, 0, 0, 0]
        content.append(uint16: name.utf8.count)
        content.append(uint16: value.count)
        return subpacket(20, content + name.utf8 + value, critical: critical)
    }

    /// Signs a text.
    ///
    /// - Parameters:
    ///   - text: its lines separated by LF.
    ///   - key: who signs.
    ///   - hashed: the area that the signature covers.
    ///   - unhashed: the one that it does not cover.
    package static func make(
        over text: String, by key: SigningKeyPair, hashed: [UInt8], unhashed: [UInt8] = []
    ) async throws -> Signature {
        try await make(.text, over: .text(Array(text.utf8)), by: key, hashed: hashed, unhashed: unhashed)
    }

    /// Signs anything.
    static func make(
        _ type: SignatureType, over content: SignedContent, by key: SigningKeyPair, hashed: [UInt8],
        unhashed: [UInt8] = []
    ) async throws -> Signature {
        var header: [UInt8] = [4, type.rawValue, 19, 8]
        header.append(uint16: hashed.count)
        header += hashed
        var trailer: [UInt8] = [4, 0xFF]
        trailer.append(uint32: UInt32(header.count))
        let digest = content.digest(trailer: header + trailer)
        let value = try await key.privateKey.signature(for: digest).rawRepresentation
        var body = header
        body.append(uint16: unhashed.count)
        body += unhashed + digest.prefix(2)
        body.append(mpi: value.prefix(32))
        body.append(mpi: value.suffix(32))
        return try Signature(parsing: body)
    }

    /// The binding of a subkey.
    package static func bind(
        _ subkey: PublicKey, to primary: SigningKeyPair, hashed: [UInt8], unhashed: [UInt8]
    ) async throws -> Signature {
        try await make(
            .subkeyBinding, over: .subkey(subkey, of: primary.publicKey), by: primary, hashed: hashed,
            unhashed: unhashed)
    }

    /// A signature packet over nothing that anybody has.
    package static func packet(
        _ type: SignatureType, by key: SigningKeyPair, hashed: [UInt8]
    ) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(packet: .signature, try await make(type, over: .key(key.publicKey), by: key, hashed: hashed).body)
        return bytes
    }

    /// A certificate whose every signature has so many octets more that it does not cover.
    package static func padded(_ certificate: [UInt8], by count: Int) throws -> [UInt8] {
        let padding = subpacket(101, [UInt8](repeating: 1, count: count))
        var bytes: [UInt8] = []
        for packet in try Packet.sequence(certificate[...]) {
            var body = Array(packet.body)
            if packet.tag == .signature {
                let start = 6 + (Int(body[4]) << 8) + Int(body[5])
                var length: [UInt8] = []
                length.append(uint16: (Int(body[start]) << 8) + Int(body[start + 1]) + padding.count)
                body.replaceSubrange(start..<(start + 2), with: length + padding)
            }
            bytes.append(packet: packet.tag, body)
        }
        return bytes
    }

    /// Seals a text with a signature that was made before.
    package static func seal(
        _ text: String, _ signature: Signature, by signer: PublicKey, to recipient: PublicKey, at time: UnixSeconds
    ) throws -> [UInt8] {
        let lines = CanonicalText.withNetworkLineEnds(Array(text.utf8))
        var plain: [UInt8] = []
        plain.append(packet: .onePassSignature, OnePassSignature(signature, by: signer).encoded)
        plain.append(packet: .literalData, LiteralData.encode(lines, format: .utf8, at: time))
        plain.append(packet: .signature, signature.body)
        let key = SessionKey()
        var message: [UInt8] = []
        message.append(packet: .encryptedSessionKey, try key.encrypted(to: recipient))
        message.append(packet: .protectedData, try ProtectedData.encrypt(plain, with: key))
        return message
    }
}

/// The subpackets of an answer's signature, one set of them for each thing that a device could try.
///
/// Spec: docs/protocol/messages.md, *Subpackets of a signature*.
package enum AnswerForm: String, CaseIterable, Sendable {
    // What every program reads.
    case plain, keyIDAlone, keyIDUncovered, signersUserID, saltOfSequoia, saltOfOpenPGPJS, datedAtAsking, noRecipient
    case criticalTime, longUncovered, lifetimeUncovered
    // What some program does not read, or not for good.
    case lifetime, lifetimeOfZero, dated1980, datedBeforeAsking, datedAhead, longCovered, longSalt, criticalSalt
    case otherNotation, unknown, keyExpiry, keyFlags, policy, twoIssuers, nobody, otherRecipient, tooLong

    /// Whether a receipt may be signed so.
    package var isAdmitted: Bool {
        switch self {
        case .plain, .keyIDAlone, .keyIDUncovered, .signersUserID, .saltOfSequoia, .saltOfOpenPGPJS, .datedAtAsking,
            .noRecipient, .criticalTime, .longUncovered, .lifetimeUncovered:
            true
        default: false
        }
    }

    /// The two areas.
    ///
    /// - Parameters:
    ///   - signer: the fingerprint that the signature names.
    ///   - recipient: for whom it is.
    ///   - asked: when the challenge was asked.
    ///   - now: the present.
    package func areas(
        signer: Fingerprint, recipient: Fingerprint, asked: UnixSeconds, now: UnixSeconds
    ) -> (hashed: [UInt8], unhashed: [UInt8]) {
        let time = HandmadeSignature.seconds(2, now)
        let issuer = HandmadeSignature.key(33, signer)
        let keyID = HandmadeSignature.subpacket(16, signer.keyID)
        let named = HandmadeSignature.key(35, recipient)
        let salt = "salt@notations.sequoia-pgp.org"
        func with(_ more: [UInt8]) -> ([UInt8], [UInt8]) { (time + issuer + more + named, keyID) }
        func dated(_ time: UnixSeconds) -> ([UInt8], [UInt8]) {
            (HandmadeSignature.seconds(2, time) + issuer + named, keyID)
        }
        switch self {
        case .plain: return with([])
        case .keyIDAlone: return (time + keyID + named, [])
        case .keyIDUncovered: return (time + named, keyID)
        case .signersUserID: return with(HandmadeSignature.subpacket(28, Array("enr_1@login.example.com".utf8)))
        case .saltOfSequoia: return with(HandmadeSignature.notation(salt, [UInt8](repeating: 7, count: 32)))
        case .saltOfOpenPGPJS:
            return with(HandmadeSignature.notation("salt@notations.openpgpjs.org", [UInt8](repeating: 7, count: 16)))
        case .datedAtAsking: return dated(asked)
        case .noRecipient: return (time + issuer, keyID)
        case .criticalTime: return (HandmadeSignature.seconds(2, now, critical: true) + issuer + named, keyID)
        case .longUncovered:
            return (
                time + issuer + named, keyID + HandmadeSignature.subpacket(101, [UInt8](repeating: 1, count: 12_000))
            )
        case .lifetimeUncovered: return (time + issuer + named, keyID + HandmadeSignature.seconds(3, 1))
        case .lifetime: return with(HandmadeSignature.seconds(3, 3600))
        case .lifetimeOfZero: return with(HandmadeSignature.seconds(3, 0))
        case .dated1980: return dated(315_532_800)
        case .datedBeforeAsking: return dated(asked - 61)
        case .datedAhead: return dated(now + 75)
        case .longCovered: return with(HandmadeSignature.subpacket(101, [UInt8](repeating: 1, count: 12_000)))
        case .longSalt: return with(HandmadeSignature.notation(salt, [UInt8](repeating: 7, count: 33)))
        case .criticalSalt:
            return with(HandmadeSignature.notation(salt, [UInt8](repeating: 7, count: 32), critical: true))
        case .otherNotation: return with(HandmadeSignature.notation("salt@example.com", [7]))
        case .unknown: return with(HandmadeSignature.subpacket(101, [1]))
        case .keyExpiry: return with(HandmadeSignature.seconds(9, 1))
        case .keyFlags: return with(HandmadeSignature.subpacket(27, [0x03]))
        case .policy: return with(HandmadeSignature.subpacket(26, Array("https://example.com".utf8)))
        case .twoIssuers: return (time + issuer + HandmadeSignature.subpacket(16, recipient.keyID) + named, [])
        case .nobody: return (time + named, [])
        case .otherRecipient: return (time + issuer + HandmadeSignature.key(35, signer), keyID)
        case .tooLong: return with(HandmadeSignature.subpacket(28, [UInt8](repeating: 0x61, count: 480)))
        }
    }
}
