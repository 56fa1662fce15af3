public import OpenPGP

/// Why the signature of an answer cannot become that of a receipt.
public enum AnswerSignatureRefusal: Error, Equatable, Sendable {
    /// Not over a text (type 0x01).
    case type
    /// What it says about itself is longer than ``AnswerSignature/maximumSize``.
    case size
    /// It says something that a receipt must not depend on: a subpacket of this kind.
    case subpacket(UInt8)
    /// It names nobody as its signer, or two.
    case issuer
    /// It is meant for somebody else.
    case recipient
    /// It is dated before the challenge was asked, or after now.
    case time

    /// The rule that is broken, in words, for who writes a device.
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

/// The form of an answer's signature: what it may say about itself, so that its receipt is good in every program and for
/// good, and depends on nothing that the device chose.
///
/// The form says nothing of who signed; it is looked at before, so that a right PIN and a wrong one look alike.
/// Spec: design 3.8, step 4.
public enum AnswerSignature {
    /// How long all of it may be, in octets; GnuPG reads none of more than 10,000.
    public static let maximumSize = 512
    /// How long a salt may be, in octets.
    public static let maximumSaltSize = 32
    /// How far its date may lie outside the time from asking to now, in seconds.
    public static let tolerance: Int64 = 60

    /// When it was made, who made it (key ID, user ID, fingerprint), and for whom.
    private static let admitted: Set<UInt8> = [2, 16, 28, 33, 35]
    /// Random octets that Sequoia and OpenPGP.js put in, so that nobody can foresee what is hashed.
    private static let salts = ["salt@notations.sequoia-pgp.org", "salt@notations.openpgpjs.org"]
    private static let notation: UInt8 = 20

    /// Throws unless a signature has the form.
    ///
    /// - Parameters:
    ///   - signature: the signature.
    ///   - recipient: whom it may name as the one it is for; it need not name anybody, for the text says which server
    ///     asked.
    ///   - asked: when the challenge was asked.
    ///   - now: the present.
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
        // Four octets of flags, two of each length, the name, the value: a salt's.
        guard !subpacket.isCritical, subpacket.content.count >= 8 else { return false }
        let named = subpacket.content.dropFirst(8)
        return salts.contains { name in
            named.starts(with: name.utf8) && named.count <= name.utf8.count + maximumSaltSize
                && subpacket.content[4...5].elementsEqual([0, UInt8(name.utf8.count)])
        }
    }

    /// Whether a key of a certificate could sign at a time, as the strictest programs see it: both it and the primary key
    /// were there and bound by then.
    public static func couldSign(_ key: Fingerprint, of certificate: Certificate, at time: UnixSeconds) -> Bool {
        guard let signer = certificate.keys.first(where: { $0.fingerprint == key }) else { return false }
        return [signer, certificate.primary].allSatisfy { $0.firstStatedAt <= time && $0.publicKey.createdAt <= time }
            && (try? signer.check(.sign, at: time)) != nil
    }
}
