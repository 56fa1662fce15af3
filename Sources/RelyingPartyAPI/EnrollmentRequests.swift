package import Encodings
package import OpenPGP

/// What a relying party makes a ticket with, which is nothing so far: `EmptyRequest` of the contract.
package struct TicketRequest: Sendable {
    /// The request as JSON.
    package var json: JSONValue { [:] }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        try JSONMembers(json).refuseUnknown()
    }
}

/// Whose wait is ended: `WaiverRequest` of the contract.
package struct WaiverRequest: Sendable {
    /// What names the device's key.
    package var fingerprint: Fingerprint

    /// The request as JSON.
    package var json: JSONValue { Self.json(fingerprint: "\(fingerprint)") }

    /// A request as a caller writes it, which the server judges.
    package static func json(fingerprint: String) -> JSONValue { ["fingerprint": .string(fingerprint)] }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        fingerprint = try members.fingerprint()
        try members.refuseUnknown()
    }
}
