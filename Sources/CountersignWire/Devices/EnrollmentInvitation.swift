public import Encodings
public import OpenPGP

/// What a QR code or link carries to a device that shall be enrolled: base64 of JSON.
///
/// Spec: design 3.7.
///
/// Besides issuer, ticket and the issuer's fingerprint it names the user and the enrollment that will be, because the
/// certificate the device makes carries both in its user ID.
public struct EnrollmentInvitation: Sendable {
    /// Where to enroll.
    public let issuer: Issuer
    /// The one-time secret.
    public let ticket: Secret<String>
    /// The fingerprint of the issuer's certificate.
    public let fingerprint: Fingerprint
    /// Who is enrolled.
    public let user: UserID
    /// The id of the enrollment.
    public let enrollment: EnrollmentID

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

    /// The text that a QR code holds, the ticket in it.
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
            let fingerprint = json["fingerprint"]?.string.flatMap({ Fingerprint($0) }),
            let user = json["user"]?.string.flatMap({ UserID($0) }),
            let enrollment = json["enrollment"]?.string.flatMap({ EnrollmentID($0) })
        else { return nil }
        self.init(issuer: issuer, ticket: Secret(ticket), fingerprint: fingerprint, user: user, enrollment: enrollment)
    }
}
