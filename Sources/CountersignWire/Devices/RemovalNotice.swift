import Encodings
public import OpenPGP

/// The server's signed notice that an enrollment has ended.
///
/// A device wipes its keys only on such a notice. Spec: docs/protocol/enrollment.md, *The end of an enrollment*.
public struct RemovalNotice: Hashable, Sendable {
    private static let title = "Countersign removal notice v1"

    /// The issuer.
    public let issuer: Issuer
    /// The enrollment that has ended.
    public let enrollment: EnrollmentID
    /// When it ended.
    public let removedAt: Timestamp
    /// The reason in the API's term.
    ///
    /// A newer server may send a term that this version does not know; the device is wiped all the same.
    public let reasonText: String

    /// The reason; nil if this version does not know it.
    public var reason: RemovalReason? { RemovalReason(rawValue: reasonText) }

    /// A notice of these parts.
    public init(issuer: Issuer, enrollment: EnrollmentID, removedAt: Timestamp, reason: RemovalReason) {
        self.init(issuer: issuer, enrollment: enrollment, removedAt: removedAt, reasonText: reason.rawValue)
    }

    private init(issuer: Issuer, enrollment: EnrollmentID, removedAt: Timestamp, reasonText: String) {
        self.issuer = issuer
        self.enrollment = enrollment
        self.removedAt = removedAt.wholeSeconds
        self.reasonText = reasonText
    }

    /// The text that is signed.
    public var text: String {
        """
        \(Self.title)
        issuer: \(issuer)
        enrollment: \(enrollment)
        removed: \(removedAt.secondsDescription)
        reason: \(reasonText)
        """
    }

    /// Verifies a notice; nil unless the server has signed it for this enrollment.
    ///
    /// - Parameters:
    ///   - message: the cleartext-signed notice.
    ///   - issuer: the issuer that it must name.
    ///   - enrollment: the enrollment that it must name.
    ///   - certificate: the issuer's certificate.
    ///   - now: the current time, in seconds since 1970.
    public init?(
        verifying message: String, issuer: Issuer, enrollment: EnrollmentID, certificate: Certificate,
        now: UnixSeconds
    ) {
        guard let signed = try? CleartextMessage(parsing: message),
            // A signature by a revoked key does not count, whatever date it bears.
            let signer = try? signed.verify(by: certificate, now: now), signer.revokedAt == nil,
            let last = signed.text.split(separator: "\n").last, last.hasPrefix("reason: "),
            let reason = RemovalReason.word(last.dropFirst(8)),
            let line = signed.text.split(separator: "\n").first(where: { $0.hasPrefix("removed: ") }),
            let removedAt = Timestamp(line.dropFirst(9))
        else { return nil }
        self.init(issuer: issuer, enrollment: enrollment, removedAt: removedAt, reasonText: reason)
        // The text is rendered with the expected issuer and enrollment, so only a notice about exactly these is equal
        // to it.
        guard text.hasSameBytes(as: signed.text) else { return nil }
    }
}

/// Why an enrollment ended.
public enum RemovalReason: String, Sendable, CaseIterable {
    /// The user removed it on the device.
    case device = "removed_by_device"
    /// A relying party removed it.
    case client = "removed_by_client"
    /// The operator removed it.
    case `operator` = "removed_by_operator"
    /// The operator has declared the device lost.
    case lost
    /// The user removed it on another device of theirs.
    case otherDevice = "removed_by_other_device"
    /// The user removed it on their account page.
    case account = "removed_on_account_page"
    /// A relying party removed it for security: the user must enroll anew.
    case security = "removed_for_security"
    /// The user did not approve it on another device.
    case denied
    /// A newer device of the user has replaced it.
    case replaced
    /// A wrong PIN was typed too often.
    case wrongPIN = "wrong_pin"
    /// Its user was deleted.
    case user = "user_deleted"

    private static let maximumLength = 64

    /// A text that has the form of a reason, known or not: lower case letters, digits and `_`.
    fileprivate static func word(_ text: some StringProtocol) -> String? {
        let isWord =
            (1...maximumLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        return isWord ? String(text) : nil
    }
}
