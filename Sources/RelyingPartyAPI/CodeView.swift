package import CountersignWire
package import Encodings

/// What a device claims a challenge by: `ChallengeCode` of the contract.
package struct CodeView: Sendable {
    /// How the code reaches the device.
    package enum Way: Sendable {
        /// Scanned from another screen: the text of the QR code.
        case qr(String)
        /// Followed on the device itself.
        case link(String)
    }

    /// How the code reaches the device.
    package var way: Way
    /// Until when it works.
    package var expiresAt: Timestamp

    /// A view of these parts.
    package init(_ way: Way, expiresAt: Timestamp) {
        self.way = way
        self.expiresAt = expiresAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        switch way {
        case .qr(let text): .members(["qr": .string(text), "expires_at": .text(expiresAt)])
        case .link(let text): .members(["link": .string(text), "expires_at": .text(expiresAt)])
        }
    }

    /// Reads a view that stands at a JSON pointer; members nobody knows are ignored.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let link = try members.optionalString("link")
        way = if let link { .link(link) } else { .qr(try members.string("qr")) }
        expiresAt = try members.time("expires_at")
    }
}
