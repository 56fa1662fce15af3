import Crypto
import CountersignWire
import Encodings
import ServerTestSupport

@testable import OpenPGP

/// Answers whose OpenPGP is wrong in one respect, made with the module's own insides.
enum DeviceMessageForge: String, CaseIterable, Sendable {
    case empty, oneByte, garbage, halved, lastByteMissing, lastByteFlipped, trailingByte, trailingPacket, twice
    case unsigned, signatureWithoutAnnouncement, announcementWithoutSignature, twoSignatures, signatureTwice
    case binarySignature, textThatIsNotUTF8, certificationSignature
    case compressedInside, compressedOutside, noIntegrityProtection, unencrypted, protectedDataVersion2
    case announcedByOther, announcedWithOtherType, otherIntendedRecipient
    case signedInTheFuture, signedBeforeTheKey, alreadyExpired, sessionKeyForOther, noSessionKey

    /// The forged message; everything besides the one mistake is right.
    func message(_ text: String, from phone: TestPhone) async throws -> [UInt8] {
        let good = try await phone.seal(text)
        switch self {
        case .empty: return []
        case .oneByte: return [good[0]]
        case .garbage: return (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ 3) }
        case .halved: return Array(good.prefix(good.count / 2))
        case .lastByteMissing: return Array(good.dropLast())
        case .lastByteFlipped: return good.dropLast() + [good[good.count - 1] ^ 0x80]
        case .trailingByte: return good + [0]
        case .trailingPacket: return good + [0xC0 | 11, 6, 0x62, 0, 0, 0, 0, 0]
        case .twice: return good + good
        default: return try encrypted(try await packets(text, phone), phone)
        }
    }

    /// What is inside.
    private func packets(_ text: String, _ phone: TestPhone) async throws -> [UInt8] {
        let now = phone.server.clock.now.unixSeconds
        let lines = CanonicalText.withNetworkLineEnds(Array(text.utf8))
        let own = phone.primary
        let signature = try await signature(lines, phone, now)
        let announcement = OnePassSignature(signature, by: own.publicKey)
        var literal = LiteralData.encode(lines, format: .utf8, at: now)
        if self == .textThatIsNotUTF8 { literal = LiteralData.encode(lines + [0xFF], format: .utf8, at: now) }
        let other = try await Signature.make(
            .text, over: .text(lines), by: SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now), at: now)
        var plain: [UInt8] = []
        switch self {
        case .unsigned: plain.append(packet: .literalData, literal)
        case .signatureWithoutAnnouncement:
            plain.append(packet: .signature, signature.body)
            plain.append(packet: .literalData, literal)
        case .announcementWithoutSignature:
            plain.append(packet: .onePassSignature, announcement.encoded)
            plain.append(packet: .literalData, literal)
        case .twoSignatures:
            plain.append(packet: .onePassSignature, OnePassSignature(other, by: own.publicKey).encoded.dropLast() + [0])
            plain.append(packet: .onePassSignature, announcement.encoded)
            plain.append(packet: .literalData, literal)
            plain.append(packet: .signature, signature.body)
            plain.append(packet: .signature, other.body)
        case .announcedByOther:
            let announced = [3, 1, 8, 19] + [UInt8](repeating: 7, count: 8) + [1]
            plain.append(packet: .onePassSignature, announced)
            plain.append(packet: .literalData, literal)
            plain.append(packet: .signature, signature.body)
        case .announcedWithOtherType:
            plain.append(packet: .onePassSignature, [3, 0] + announcement.encoded.dropFirst(2))
            plain.append(packet: .literalData, literal)
            plain.append(packet: .signature, signature.body)
        default:
            plain.append(packet: .onePassSignature, announcement.encoded)
            plain.append(packet: .literalData, literal)
            plain.append(packet: .signature, signature.body)
            if self == .signatureTwice { plain.append(packet: .signature, signature.body) }
        }
        guard self == .compressedInside else { return plain }
        var compressed: [UInt8] = []
        // Algorithm 0 does not even compress.
        compressed.append(packet: .compressedData, [0] + plain)
        return compressed
    }

    private func signature(_ lines: [UInt8], _ phone: TestPhone, _ now: UnixSeconds) async throws -> Signature {
        let own = phone.primary
        let recipient = phone.serverCertificate.fingerprint
        func make(
            _ type: SignatureType = .text, _ content: SignedContent? = nil, at time: UnixSeconds,
            _ complete: (inout Subpackets) -> Void = { _ in }
        ) async throws -> Signature {
            try await Signature.make(type, over: content ?? .text(lines), by: own, at: time) {
                $0.intendedRecipients = [recipient]
                complete(&$0)
            }
        }
        switch self {
        case .binarySignature: return try await make(.binary, .document(lines), at: now)
        case .certificationSignature: return try await make(.positiveCertification, at: now)
        case .textThatIsNotUTF8: return try await make(.text, .text(lines + [0xFF]), at: now)
        case .otherIntendedRecipient:
            return try await make(at: now) { $0.intendedRecipients = [phone.certificate.fingerprint] }
        case .signedInTheFuture: return try await make(at: now + 3600)
        case .signedBeforeTheKey: return try await make(at: own.publicKey.createdAt - 1)
        case .alreadyExpired: return try await make(at: own.publicKey.createdAt) { $0.lifetime = 1 }
        default: return try await make(at: now)
        }
    }

    /// How it is sealed.
    private func encrypted(_ plain: [UInt8], _ phone: TestPhone) throws -> [UInt8] {
        let now = phone.server.clock.now.unixSeconds
        var recipient = try phone.serverCertificate.key(for: .encrypt, at: now).publicKey
        if self == .sessionKeyForOther { recipient = phone.encryption.publicKey }
        let key = SessionKey()
        var message: [UInt8] = []
        if self == .unencrypted { return plain }
        if self != .noSessionKey { message.append(packet: .encryptedSessionKey, try key.encrypted(to: recipient)) }
        let data = try ProtectedData.encrypt(plain, with: key)
        switch self {
        case .noIntegrityProtection: message.append(packet: .unprotectedData, data.dropFirst())
        case .protectedDataVersion2: message.append(packet: .protectedData, [2] + data.dropFirst())
        case .compressedOutside:
            message.append(packet: .protectedData, data)
            var compressed: [UInt8] = []
            compressed.append(packet: .compressedData, [0] + message)
            return compressed
        default: message.append(packet: .protectedData, data)
        }
        return message
    }
}
