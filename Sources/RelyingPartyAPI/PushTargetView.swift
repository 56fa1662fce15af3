package import CountersignWire
package import Encodings

/// Where a device is reached by pushes, without the token: `PushTarget` of the contract.
package struct PushTargetView: Sendable {
    /// `apns`, `fcm` or `local`.
    package var service: String
    /// The app.
    package var app: String
    /// `production` or `sandbox`, for Apple's service.
    package var environment: String?
    /// When the device registered it.
    package var registeredAt: Timestamp

    /// A view of these parts.
    package init(service: String, app: String, environment: String?, registeredAt: Timestamp) {
        self.service = service
        self.app = app
        self.environment = environment
        self.registeredAt = registeredAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "service": .string(service), "app": .string(app), "environment": .text(environment),
            "registered_at": .text(registeredAt),
        ])
    }

    /// Reads a view that stands at a JSON pointer; members nobody knows are ignored.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        service = try members.string("service")
        app = try members.string("app")
        environment = try members.optionalString("environment")
        registeredAt = try members.time("registered_at")
    }
}
