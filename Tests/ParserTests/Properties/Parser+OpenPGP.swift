import Crypto
import Encodings

@testable import OpenPGP

extension Parser {
    /// Packets of every kind, and the content of those that are read here.
    static let packets = Parser("packets") { input in
        let packets: [Packet]
        do throws(OpenPGPError) { packets = try Packet.sequence(input[...]) } catch { return .refused }
        var written: [UInt8] = []
        for packet in packets { written.append(packet: packet.tag, packet.body) }
        let again = try again("a sequence of packets") { try Packet.sequence(written[...]) }
        try expect(
            again.count == packets.count
                && zip(again, packets).allSatisfy { $0.tag == $1.tag && $0.body.elementsEqual($1.body) },
            "packets change when they are written")
        var verdict = packets.isEmpty ? Verdict.refused : .read
        for packet in packets {
            do { try content(of: packet) } catch is OpenPGPError { verdict = .refused }
        }
        return verdict
    }

    /// Reads the content of a packet; what is refused throws ``OpenPGPError``.
    private static func content(of packet: Packet) throws {
        switch packet.tag {
        case .signature:
            let signature = try Signature(parsing: packet.body)
            try expect(packet.body.elementsEqual(signature.body), "a signature is not kept as it was")
            let area = signature.subpackets.hashedArea
            let again = try again("an area of subpackets") { try Subpackets(parsing: area[...]) }
            try expect(again.hashedArea == area, "subpackets change when they are written")
        case .publicKey, .publicSubkey:
            let key = try PublicKey(parsing: packet.body, tag: packet.tag)
            try expect(packet.body.elementsEqual(key.body), "a key is not kept as it was")
            let made = PublicKey(key.material, createdAt: key.createdAt)
            try expect(made.body == key.body && made.fingerprint == key.fingerprint, "a key has two spellings")
        case .literalData:
            let literal = try LiteralData(parsing: packet.body)
            let written = LiteralData.encode(Array(literal.content), format: literal.format, at: 0)
            let again = try again("literal data") { try LiteralData(parsing: written[...]) }
            try expect(again.content.elementsEqual(literal.content), "literal data change when they are written")
        case .onePassSignature:
            let announced = try OnePassSignature(parsing: packet.body)
            try expect(packet.body.elementsEqual(announced.encoded), "an announced signature has two spellings")
        case .encryptedSessionKey:
            try expect(try SessionKey.recipientKeyID(of: packet.body).count == 8, "a key ID has eight bytes")
        default:
            break
        }
    }

    /// ASCII armor, whatever it is said to hold.
    static let armor = Parser("armor", memoryPerByte: 160) { input in
        let text = String(decoding: input, as: UTF8.self)
        var verdict = Verdict.refused
        for kind in Armor.Kind.allCases {
            let bytes: [UInt8]
            do throws(OpenPGPError) { bytes = try Armor.decode(text, as: kind) } catch { continue }
            verdict = .read
            let written = Armor.encode(bytes, as: kind)
            try expect(
                try again("armor") { try Armor.decode(written, as: kind) } == bytes, "armor changes what it holds")
        }
        return verdict
    }

    /// Messages signed in the clear.
    static let cleartext = Parser("cleartext", memoryPerByte: 200) { input in
        let text = String(decoding: input, as: UTF8.self)
        let message: CleartextMessage
        do throws(OpenPGPError) { message = try CleartextMessage(parsing: text) } catch { return .refused }
        let written = message.encoded
        let again = try again("a cleartext message") { try CleartextMessage(parsing: written) }
        try expect(again.text.hasSameBytes(as: message.text), "a cleartext message changes its text")
        try expect(again.signature.body == message.signature.body, "a cleartext message changes its signature")
        try expect(again.encoded.hasSameBytes(as: written), "a cleartext message has no stable spelling")
        return .read
    }

    /// Certificates, binary and armored.
    static let certificate = Parser("certificate", memoryPerByte: 200) { input in
        let isArmored = input.starts(with: "-----".utf8)
        let certificate: Certificate
        do throws(OpenPGPError) {
            certificate =
                isArmored
                ? try Certificate(armored: String(decoding: input, as: UTF8.self)) : try Certificate(parsing: input)
        } catch {
            return .refused
        }
        try expect(isArmored || certificate.encoded == input, "a certificate is not kept as it was")
        let again = try again("a certificate") { try Certificate(armored: certificate.armored) }
        try expect(again.encoded == certificate.encoded, "a certificate changes when it is written")
        try expect(
            again.keys.map(\.fingerprint) == certificate.keys.map(\.fingerprint), "a certificate changes its keys")
        return .read
    }

    /// Certificates with their secret keys; what is protected is protected by ``passphrase``.
    static let secretKeys = Parser("secret-keys", memoryPerByte: 200) { input in
        let block: SecretKeyBlock
        do throws(OpenPGPError) {
            block = try SecretKeyBlock(parsing: input, passphrase: passphrase)
        } catch {
            return .refused
        }
        let written = try again("a secret key block") { try block.encoded(passphrase: nil) }
        let again = try again("a secret key block") { try SecretKeyBlock(parsing: written) }
        try expect(
            try again.encoded(passphrase: nil) == written && again.certificate.encoded == block.certificate.encoded,
            "a secret key block changes when it is written")
        return .read
    }

    /// What protects the secret keys of the corpus.
    static let passphrase = "fuzzing"

    /// Signatures beside what they cover.
    static let detachedSignature = Parser("detached-signature", memoryPerByte: 200) { input in
        let isArmored = input.starts(with: "-----".utf8)
        let signature: DetachedSignature
        do throws(OpenPGPError) {
            signature =
                isArmored
                ? try DetachedSignature(armored: String(decoding: input, as: UTF8.self))
                : try DetachedSignature(parsing: input)
        } catch {
            return .refused
        }
        let again = try again("a detached signature") { try DetachedSignature(armored: signature.armored) }
        try expect(again.encoded == signature.encoded, "a detached signature changes when it is written")
        return .read
    }

    /// Messages that carry their signature and are not encrypted.
    static let signedMessage = Parser("signed-message", memoryPerByte: 128) { input in
        do throws(OpenPGPError) {
            let opened = try SignedMessage.open(input, signers: [signer], now: FixedKeys.now)
            return opened.signer.fingerprint == signer.fingerprint ? .read : .refused
        } catch {
            return .refused
        }
    }

    /// Encrypted messages.
    static let message = Parser("message", memoryPerByte: 128) { try await open($0) }

    /// What stands inside an encrypted message: the input is encrypted, as anybody can who knows the recipient.
    static let messageContent = Parser("message-content", memoryPerByte: 128) { input in
        var message = Sealing.announcement
        do throws(OpenPGPError) {
            message.append(packet: .protectedData, try ProtectedData.encrypt(input, with: Sealing.sessionKey))
        } catch {
            throw Violation(description: "the input cannot be encrypted: \(error)")
        }
        return try await open(message)
    }

    private static func open(_ message: [UInt8]) async throws -> Verdict {
        do {
            let opened = try await EncryptedMessage.open(
                message, with: FixedKeys.encryption, signers: [signer],
                intendedRecipient: FixedKeys.primary.publicKey.fingerprint, now: FixedKeys.now)
            try expect(opened.signer.fingerprint == signer.fingerprint, "a message is opened as somebody else's")
            return .read
        } catch let refusal {
            if refusal is OpenPGPError { return .refused }
            throw refusal is Violation ? refusal : Violation(description: "refused by \(refusal)")
        }
    }

    private static let signer = CertifiedKey(
        previouslyCertified: FixedKeys.primary.publicKey, flags: [.certify, .sign])

    /// One session key for all inputs, so that only the content differs.
    private enum Sealing {
        static let sessionKey = SessionKey()
        static let announcement: [UInt8] = {
            var bytes: [UInt8] = []
            // swift-format-ignore
            bytes.append(packet: .encryptedSessionKey, try! sessionKey.encrypted(to: FixedKeys.encryption.publicKey))
            return bytes
        }()
    }
}
