public import OpenPGP

/// Why the signature of an answer is not acceptable in a receipt.
public enum AnswerSignatureRefusal: Error, Equatable, Sendable {
    /// The signature is not over a text (type 0x01).
    case type
    /// Its hashed subpackets are longer than ``AnswerSignature/maximumSize``.
    case size
    /// It has a subpacket of this kind, on which a receipt must not depend.
    case subpacket(UInt8)
    /// It names no signer, or two.
    case issuer
    /// It names another recipient than the server.
    case recipient
    /// It is dated before the challenge was asked, or in the future.
    case time

    /// The broken rule in words, for developers of devices.
    public var words: String {
        switch self {
        case .type: "the signature must be over a text (type 1)"
        case .size: "what the signature covers of itself has more than \(AnswerSignature.maximumSize) octets"
        case .subpacket(let type): "the signature has a subpacket of type \(type)"
        case .issuer: "the signature names nobody as its signer, or two"
        case .recipient: "the signature is meant for another recipient"
        case .time: "the signature is dated before the challenge was asked, or after now"
        }
    }
}

/// The permitted form of an answer's signature.
///
/// The form limits what the signature may say about itself, so that every program accepts the receipt, now and later,
/// and nothing in it is the device's free choice. The form is checked before the signer, so that a right PIN and a
/// wrong one look alike. Spec: docs/protocol/messages.md, *Subpackets of a signature*.
public enum AnswerSignature {
    /// The largest total size in octets; GnuPG reads no more than 10,000.
    public static let maximumSize = 512
    /// The largest size of a salt, in octets.
    public static let maximumSaltSize = 32
    /// How far the signature's date may lie outside the time from asking to now, in seconds.
    public static let tolerance: Int64 = 60

    /// The permitted subpackets: the time, the signer (key ID, user ID, fingerprint), and the recipient.
    private static let admitted: Set<UInt8> = [2, 16, 28, 33, 35]
    /// Random octets that Sequoia and OpenPGP.js add, so that nobody can predict the hashed bytes.
    private static let salts = ["salt@notations.sequoia-pgp.org", "salt@notations.openpgpjs.org"]
    private static let notation: UInt8 = 20

    /// Throws unless a signature has the permitted form.
    ///
    /// - Parameters:
    ///   - signature: the signature.
    ///   - recipient: the only recipient that it may name; it need not name one, because the text names the server.
    ///   - asked: when the challenge was asked.
    ///   - now: the current time.
    public static func check(
        _ signature: Signature, for recipient: Fingerprint, asked: Timestamp, now: Timestamp
    ) throws(AnswerSignatureRefusal) {
        guard signature.type == .text else { throw .type }
        guard signature.hashedSize <= maximumSize else { throw .size }
        for subpacket in signature.hashedSubpackets {
            guard isAdmitted(subpacket) else { throw .subpacket(subpacket.type) }
        }
        let (fingerprint, keyID) = (signature.subpackets.issuer, signature.subpackets.issuerKeyID)
        guard fingerprint != nil || keyID != nil, fingerprint == nil || keyID == nil || fingerprint?.keyID == keyID
        else { throw .issuer }
        let recipients = signature.subpackets.intendedRecipients
        guard recipients.allSatisfy({ $0 == recipient }) else { throw .recipient }
        guard signature.createdAt >= asked.adding(seconds: -tolerance).unixSeconds,
            signature.createdAt <= now.adding(seconds: tolerance).unixSeconds
        else { throw .time }
    }

    private static func isAdmitted(_ subpacket: Subpacket) -> Bool {
        guard subpacket.type == notation else { return admitted.contains(subpacket.type) }
        // A salt: four octets of flags, two of each length, the name and the value.
        guard !subpacket.isCritical, subpacket.content.count >= 8 else { return false }
        let named = subpacket.content.dropFirst(8)
        return salts.contains { name in
            named.starts(with: name.utf8) && named.count <= name.utf8.count + maximumSaltSize
                && subpacket.content[4...5].elementsEqual([0, UInt8(name.utf8.count)])
        }
    }

    /// Whether a key of a certificate could sign at a time in the view of the strictest programs: both the key and the
    /// primary key existed and were bound by then.
    public static func couldSign(_ key: Fingerprint, of certificate: Certificate, at time: UnixSeconds) -> Bool {
        guard let signer = certificate.keys.first(where: { $0.fingerprint == key }) else { return false }
        return [signer, certificate.primary].allSatisfy { $0.firstStatedAt <= time && $0.publicKey.createdAt <= time }
            && (try? signer.check(.sign, at: time)) != nil
    }
}
