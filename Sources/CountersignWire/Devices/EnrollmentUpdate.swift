public import Encodings

/// The body of `PATCH /v1/enrollments/self`: what it does not name stays as it was.
public struct EnrollmentUpdate: Sendable {
    /// What becomes of the push registration.
    public enum Push: Sendable {
        /// It stays as it was.
        case unchanged
        /// The device is reached here from now on.
        case registered(PushRegistration)
        /// The device is not reached by push any more: it asks by itself.
        case removed
    }

    /// What becomes of the push registration.
    public var push: Push
    /// What the device says of itself now; nil for what it said before.
    public var device: DeviceDescription?

    /// An update of these parts.
    public init(push: Push = .unchanged, device: DeviceDescription? = nil) {
        self.push = push
        self.device = device
    }

    /// The update as JSON.
    public var json: JSONValue {
        var object = JSONObject()
        switch push {
        case .unchanged: break
        case .registered(let registration): object["push"] = registration.json
        case .removed: object["push"] = .null
        }
        if let device { object["device"] = device.json }
        return .object(object)
    }

    /// Reads an update.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        if let push = members.value("push") {
            self.push = .registered(try PushRegistration(push, at: members.pointer(to: "push")))
        } else {
            push = json["push"] == nil ? .unchanged : .removed
        }
        device = try members.value("device").map { value throws(JSONShapeError) in
            try DeviceDescription(value, at: members.pointer(to: "device"))
        }
        try members.refuseUnknown()
    }
}
