package import CountersignWire
package import Encodings

/// A one-time ticket to enroll a device: `Ticket` of the contract.
package struct TicketView: Sendable {
    /// The one-time secret.
    package var ticket: Secret<String>
    /// The text of the QR code.
    package var qr: String
    /// Whose device it enrolls.
    package var user: UserID
    /// The enrollment it makes.
    package var enrollment: EnrollmentID
    /// Until when it works.
    package var expiresAt: Timestamp

    /// A view of these parts.
    package init(ticket: Secret<String>, qr: String, user: UserID, enrollment: EnrollmentID, expiresAt: Timestamp) {
        self.ticket = ticket
        self.qr = qr
        self.user = user
        self.enrollment = enrollment
        self.expiresAt = expiresAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "ticket": .string(ticket.reveal()), "qr": .string(qr), "user": .text(user), "enrollment": .text(enrollment),
            "expires_at": .text(expiresAt),
        ])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        ticket = Secret(try members.string("ticket"))
        qr = try members.string("qr")
        user = try members.id("user")
        enrollment = try members.id("enrollment")
        expiresAt = try members.time("expires_at")
    }
}
