package import CountersignWire
package import Encodings
package import OpenPGP

/// A device as its user's clients, operators and the device itself see it: `Enrollment` of the contract.
package struct EnrollmentView: Sendable {
    /// Whether the device may act for its user.
    package enum State: Sendable {
        /// It may.
        case active
        /// Another device of the user, or time, has yet to let it in.
        case waiting(approval: ChallengeID?, until: Timestamp)
        /// The user or an operator has suspended it.
        case suspended(at: Timestamp)
        /// It is removed.
        case removed(reason: String, at: Timestamp)

        /// Its word.
        package var name: String {
            switch self {
            case .active: "active"
            case .waiting: "waiting"
            case .suspended: "suspended"
            case .removed: "removed"
            }
        }
    }

    /// The enrollment.
    package var enrollment: EnrollmentID
    /// Whose it is.
    package var user: UserID
    /// What names the device's key.
    package var fingerprint: Fingerprint
    /// What the device says of itself.
    package var device: DeviceDescription
    /// The versions of challenges it reads.
    package var versions: [Int64]
    /// How well its keys are kept.
    package var assurance: String
    /// When it was enrolled.
    package var createdAt: Timestamp
    /// When its user confirmed it; nil if it counts in the group of its client alone.
    package var confirmedAt: Timestamp?
    /// Whether a PIN is set, or locked.
    package var pin: String
    /// Whether a biometric is set.
    package var hasBiometric: Bool
    /// The custom authenticators that are set.
    package var custom: [String]
    /// Where it is reached by pushes; nil for nowhere.
    package var push: PushTargetView?
    /// Whether it may act.
    package var state: State
    /// Methods that do not count yet, and from when they do.
    package var waiting: [AnswerMethod: Timestamp]

    /// A view of these parts.
    package init(
        enrollment: EnrollmentID, user: UserID, fingerprint: Fingerprint, device: DeviceDescription,
        versions: [Int64], assurance: String, createdAt: Timestamp, confirmedAt: Timestamp?, pin: String,
        hasBiometric: Bool, custom: [String],
        push: PushTargetView?, state: State, waiting: [AnswerMethod: Timestamp]
    ) {
        self.enrollment = enrollment
        self.user = user
        self.fingerprint = fingerprint
        self.device = device
        self.versions = versions
        self.assurance = assurance
        self.createdAt = createdAt
        self.confirmedAt = confirmedAt
        self.pin = pin
        self.hasBiometric = hasBiometric
        self.custom = custom
        self.push = push
        self.state = state
        self.waiting = waiting
    }

    /// The view as JSON.
    package var json: JSONValue {
        var object = JSONObject([
            "enrollment": .text(enrollment), "user": .text(user), "fingerprint": .text(fingerprint),
            "device": device.json, "versions": .array(versions.map(JSONValue.integer)),
            "assurance": .string(assurance), "created_at": .text(createdAt), "confirmed_at": .text(confirmedAt),
            "pin": .string(pin),
            "biometric": .bool(hasBiometric), "custom": .texts(custom), "push": push?.json,
            "state": .string(state.name),
        ])
        switch state {
        case .active: break
        case .waiting(let approval, let time):
            object["approval"] = .text(approval)
            object["waiting_until"] = .text(time)
        case .suspended(let time): object["suspended_at"] = .text(time)
        case .removed(let reason, let time):
            object["reason"] = .string(reason)
            object["removed_at"] = .text(time)
        }
        object["waiting"] = WaitingMethods.json(waiting.map { ($0, $1) })
        return .object(object)
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        enrollment = try members.id("enrollment")
        user = try members.id("user")
        fingerprint = try members.fingerprint()
        device = try DeviceDescription(
            try members.required("device", "an object") { $0 }, at: members.pointer(to: "device"), ignoringUnknown: true
        )
        versions = try members.required("versions", "an array of numbers") { $0.array?.compactMap(\.integer) }
        assurance = try members.string("assurance")
        createdAt = try members.time("created_at")
        confirmedAt = try members.optionalTime("confirmed_at")
        pin = try members.string("pin")
        hasBiometric = try members.bool("biometric")
        custom = try members.requiredStrings("custom")
        push = try members.value("push").map { value throws(JSONShapeError) in
            try PushTargetView(value, at: members.pointer(to: "push"))
        }
        switch try members.string("state") {
        case "active": state = .active
        case "waiting":
            state = .waiting(approval: try members.optionalID("approval"), until: try members.time("waiting_until"))
        case "suspended": state = .suspended(at: try members.time("suspended_at"))
        case "removed":
            state = .removed(reason: try members.string("reason"), at: try members.time("removed_at"))
        default: throw .invalid(pointer: members.pointer(to: "state"), expected: "a state of a device")
        }
        waiting = try WaitingMethods.read(&members)
    }
}
