public import Encodings
public import OpenPGP

/// The invitation in a QR code or link for a device that is to enroll: base64 of JSON.
///
/// Spec: docs/protocol/enrollment.md, *The invitation*.
///
/// Besides issuer, ticket and the issuer's fingerprint it names the user and the future enrollment, because the user ID
/// of the device's certificate contains both.
public struct EnrollmentInvitation: Equatable, Sendable {
    /// The server at which to enroll.
    public let issuer: Issuer
    /// The secret of the ticket.
    public let ticket: Secret<String>
    /// The fingerprint of the issuer's certificate.
    public let fingerprint: Fingerprint
    /// The user.
    public let user: UserID
    /// The id of the enrollment.
    public let enrollment: EnrollmentID

    /// Compares the tickets in constant time.
    public static func == (one: EnrollmentInvitation, other: EnrollmentInvitation) -> Bool {
        one.issuer == other.issuer && one.fingerprint == other.fingerprint && one.user == other.user
            && one.enrollment == other.enrollment && one.ticket.isSame(as: other.ticket)
    }

    /// An invitation of these parts.
    public init(
        issuer: Issuer, ticket: Secret<String>, fingerprint: Fingerprint, user: UserID, enrollment: EnrollmentID
    ) {
        self.issuer = issuer
        self.ticket = ticket
        self.fingerprint = fingerprint
        self.user = user
        self.enrollment = enrollment
    }

    /// The text of the QR code, which contains the ticket.
    public var text: String {
        let members = JSONValue.members([
            "issuer": .string("\(issuer)"), "ticket": .string(ticket.reveal()),
            "fingerprint": .string("\(fingerprint)"),
            "user": .string("\(user)"), "enrollment": .string("\(enrollment)"),
        ])
        return Base64.encode(members.encoded)
    }

    /// Reads the text of a QR code, or nil.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Base64.decode(text), let json = try? JSONValue(parsing: bytes),
            let issuer = json["issuer"]?.string.flatMap({ Issuer($0) }),
            let ticket = json["ticket"]?.string,
            let shown = json["fingerprint"]?.string, let fingerprint = Fingerprint(shown), "\(fingerprint)" == shown,
            let user = json["user"]?.string.flatMap({ UserID($0) }),
            let enrollment = json["enrollment"]?.string.flatMap({ EnrollmentID($0) })
        else { return nil }
        self.init(issuer: issuer, ticket: Secret(ticket), fingerprint: fingerprint, user: user, enrollment: enrollment)
    }
}
