public import Encodings

/// The body of `PATCH /v1/enrollments/self`: members that are absent change nothing.
public struct EnrollmentUpdate: Sendable {
    /// A change of the push registration.
    public enum Push: Sendable {
        /// The registration does not change.
        case unchanged
        /// Pushes reach the device in this way from now on.
        case registered(PushRegistration)
        /// The device gets no more pushes: it polls.
        case removed
    }

    /// The change of the push registration.
    public var push: Push
    /// The device's new description of itself; nil for no change.
    ///
    /// It does not include how the device keeps its keys: that belongs to the keys, and is declared once, at
    /// enrollment.
    public var device: DeviceLabels?
    /// The versions of ``ChallengeBody`` that the device now reads; nil for no change.
    public var versions: [Int64]?

    /// An update of these parts.
    public init(push: Push = .unchanged, device: DeviceLabels? = nil, versions: [Int64]? = nil) {
        self.push = push
        self.device = device
        self.versions = versions
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
        if let versions { object["versions"] = .array(versions.map(JSONValue.integer)) }
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
            let labels = try DeviceLabels(value, at: members.pointer(to: "device"))
            try labels.checkNames(at: members.pointer(to: "device"))
            return labels
        }
        versions = try members.optional("versions", ChallengeBody.expectedVersions, ChallengeBody.versions)
        try members.refuseUnknown()
    }
}
