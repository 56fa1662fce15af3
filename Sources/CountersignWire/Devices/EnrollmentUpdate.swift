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
    ///
    /// How it keeps its keys is not among it: that belongs to the keys, and is said once, when they are enrolled.
    public var device: DeviceLabels?
    /// The versions of ``ChallengeBody`` that the device reads now; nil for those it said before.
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
