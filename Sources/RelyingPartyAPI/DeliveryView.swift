package import CountersignWire
package import Encodings

/// How one device was reached: `Delivery` of the contract.
package struct DeliveryView: Sendable {
    /// What came of the push.
    package struct Push: Sendable {
        /// `queued`, `accepted` or `failed`.
        package var state: String
        /// Why it failed.
        package var reason: String?
        /// Since when.
        package var at: Timestamp

        /// A push of these parts.
        package init(state: String, reason: String?, at: Timestamp) {
            self.state = state
            self.reason = reason
            self.at = at
        }
    }

    /// The device.
    package var enrollment: EnrollmentID
    /// What came of the push; nil where none was sent.
    package var push: Push?
    /// When the device fetched the challenge first; nil while it has not.
    package var fetchedAt: Timestamp?

    /// A view of these parts.
    package init(enrollment: EnrollmentID, push: Push?, fetchedAt: Timestamp?) {
        self.enrollment = enrollment
        self.push = push
        self.fetchedAt = fetchedAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "enrollment": .text(enrollment),
            "push": push.map {
                .members(["state": .string($0.state), "reason": .text($0.reason), "at": .text($0.at)])
            },
            "fetched_at": .text(fetchedAt),
        ])
    }

    /// Reads a view that stands at a JSON pointer; members nobody knows are ignored.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        enrollment = try members.id("enrollment")
        if let value = members.value("push") {
            var members = try JSONMembers(value, at: members.pointer(to: "push"))
            push = Push(
                state: try members.string("state"), reason: try members.optionalString("reason"),
                at: try members.time("at"))
        }
        fetchedAt = try members.optionalTime("fetched_at")
    }
}
