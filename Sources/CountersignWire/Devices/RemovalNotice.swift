import Encodings
public import OpenPGP

/// The server's signed word that an enrollment is over.
///
/// A device wipes its keys on this and on nothing less. Spec: design 4, *Removal*.
public struct RemovalNotice: Hashable, Sendable {
    private static let title = "Countersign removal notice v1"

    /// Who says so.
    public let issuer: Issuer
    /// Which enrollment is over.
    public let enrollment: EnrollmentID
    /// Since when.
    public let removedAt: Timestamp
    /// Why.
    public let reason: RemovalReason

    /// A notice of these parts.
    public init(issuer: Issuer, enrollment: EnrollmentID, removedAt: Timestamp, reason: RemovalReason) {
        self.issuer = issuer
        self.enrollment = enrollment
        self.removedAt = removedAt.wholeSeconds
        self.reason = reason
    }

    /// The text that is signed.
    public var text: String {
        """
        \(Self.title)
        issuer: \(issuer)
        enrollment: \(enrollment)
        removed: \(removedAt.secondsDescription)
        reason: \(reason.rawValue)
        """
    }

    /// Verifies a notice, or nil when it is not the server's word on this enrollment.
    ///
    /// - Parameters:
    ///   - message: the cleartext-signed notice.
    ///   - issuer: the issuer it must be from.
    ///   - enrollment: the enrollment it must be about.
    ///   - certificate: the issuer's certificate.
    ///   - now: the present, in seconds since 1970.
    public init?(
        verifying message: String, issuer: Issuer, enrollment: EnrollmentID, certificate: Certificate,
        now: UnixSeconds
    ) {
        guard let signed = try? CleartextMessage(parsing: message),
            (try? signed.verify(by: certificate, now: now)) != nil,
            let last = signed.text.split(separator: "\n").last, last.hasPrefix("reason: "),
            let reason = RemovalReason(rawValue: String(last.dropFirst(8))),
            let line = signed.text.split(separator: "\n").first(where: { $0.hasPrefix("removed: ") }),
            let removedAt = Timestamp(line.dropFirst(9))
        else { return nil }
        self.init(issuer: issuer, enrollment: enrollment, removedAt: removedAt, reason: reason)
        // Issuer and enrollment are ours, so only a notice about exactly them renders alike.
        guard text.hasSameBytes(as: signed.text) else { return nil }
    }
}

/// Why an enrollment ended.
public enum RemovalReason: String, Sendable, CaseIterable {
    /// The user removed it on the device.
    case device = "removed_by_device"
    /// A relying party or the operator removed it.
    case client = "removed_by_client"
    /// The user did not approve it on another device.
    case denied
    /// A newer device of the user has taken its place.
    case replaced
    /// A wrong PIN was typed too often.
    case wrongPIN = "wrong_pin"
    /// The user it belonged to was deleted.
    case user = "user_deleted"
}
