public import Encodings
public import OpenPGP

/// The text that a device signs with a method's key to suspend, resume or remove another device of its user.
///
/// Spec: docs/protocol/devices.md, *An act*.
public struct DeviceAct: Hashable, Sendable {
    /// The action on the other device.
    public enum Kind: String, Sendable, CaseIterable {
        /// The other device can do nothing until it is resumed.
        case suspend
        /// The other device is active again.
        case resume
        /// The other device is removed for ever.
        case remove
    }

    /// The first line, which distinguishes acts from everything else that a key signs.
    public static let title = "Countersign device act v1"

    /// The issuer.
    public let issuer: Issuer
    /// The enrollment that acts.
    public let enrollment: EnrollmentID
    /// The server's nonce, so that the act is accepted only once.
    public let nonce: Nonce
    /// The action.
    public let kind: Kind
    /// The enrollment of the other device.
    public let device: EnrollmentID

    /// An act of these parts.
    public init(issuer: Issuer, enrollment: EnrollmentID, nonce: Nonce, kind: Kind, device: EnrollmentID) {
        self.issuer = issuer
        self.enrollment = enrollment
        self.nonce = nonce
        self.kind = kind
        self.device = device
    }

    /// The text that is signed: lines separated by LF, without a final LF.
    public var text: String {
        """
        \(Self.title)
        issuer: \(issuer)
        enrollment: \(enrollment)
        nonce: \(nonce)
        act: \(kind.rawValue)
        device: \(device)
        """
    }

    /// Whether it is this act of this device on that one.
    package func isFor(_ issuer: Issuer, _ kind: Kind, by enrollment: EnrollmentID, on other: EnrollmentID) -> Bool {
        self.issuer == issuer && self.kind == kind && self.enrollment == enrollment && device == other
    }

    /// Reads an act, or nil; every accepted text renders to the same bytes again.
    public init?(_ text: String) {
        var lines = FieldLines(text)
        guard lines.take()?.hasSameBytes(as: Self.title) == true,
            let issuer = try? lines.required("issuer", { Issuer($0) }),
            let enrollment = try? lines.required("enrollment", { EnrollmentID($0) }),
            let nonce = try? lines.required("nonce", { Nonce($0) }),
            let kind = try? lines.required("act", { Kind(rawValue: String($0)) }),
            let device = try? lines.required("device", { EnrollmentID($0) })
        else { return nil }
        self.init(issuer: issuer, enrollment: enrollment, nonce: nonce, kind: kind, device: device)
        guard self.text.hasSameBytes(as: text) else { return nil }
    }
}

/// The body of an act on another device.
public struct DeviceActRequest: Sendable {
    /// The ``DeviceAct``, sealed and signed by the key of a method: a binary OpenPGP message; nil if no method's
    /// signature is needed.
    public let authorization: [UInt8]?

    /// A request of these parts.
    public init(authorization: [UInt8]? = nil) {
        self.authorization = authorization
    }

    /// The request as JSON.
    public var json: JSONValue { .members(["authorization": authorization.map { .string(Base64.encode($0)) }]) }

    /// Reads a request.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        authorization = try members.optional("authorization", "base64") { $0.string.flatMap { Base64.decode($0) } }
        try members.refuseUnknown()
    }
}

/// The state of an enrollment.
///
/// A device key or a method counts when the server accepts its answers; before that it waits.
public enum EnrollmentState: String, Sendable, CaseIterable {
    /// Its device key counts, and it is not suspended.
    case active
    /// Its device key does not count yet.
    case waiting
    /// It can do nothing until it is resumed.
    case suspended
}

/// Another device of a user, as the user's devices see it.
public struct OtherDevice: Hashable, Sendable {
    /// Its enrollment.
    public let enrollment: EnrollmentID
    /// The device's description of itself.
    public let device: DeviceDescription
    /// Its certificate's fingerprint.
    public let fingerprint: Fingerprint
    /// The state of its enrollment.
    public let state: EnrollmentState
    /// When it was enrolled.
    public let createdAt: Timestamp
    /// When its device key begins to count; nil if it counts already.
    public let waitingUntil: Timestamp?
    /// When it was suspended; nil if it is not suspended.
    public let suspendedAt: Timestamp?
    /// The methods that are set.
    public let methods: [AnswerMethod]
    /// The methods that are set but do not count yet, each with the time from which it counts.
    public let waiting: [AnswerMethod: Timestamp]

    /// A device of these parts.
    public init(
        enrollment: EnrollmentID, device: DeviceDescription, fingerprint: Fingerprint, state: EnrollmentState,
        createdAt: Timestamp, waitingUntil: Timestamp?, suspendedAt: Timestamp?, methods: [AnswerMethod],
        waiting: [AnswerMethod: Timestamp]
    ) {
        self.enrollment = enrollment
        self.device = device
        self.fingerprint = fingerprint
        self.state = state
        self.createdAt = createdAt
        self.waitingUntil = waitingUntil
        self.suspendedAt = suspendedAt
        self.methods = methods
        self.waiting = waiting
    }

    /// The device as JSON.
    public var json: JSONValue {
        .members([
            "enrollment": .string("\(enrollment)"), "device": device.json, "fingerprint": .string("\(fingerprint)"),
            "state": .string(state.rawValue), "created_at": .string("\(createdAt)"),
            "waiting_until": waitingUntil.map { .string("\($0)") },
            "suspended_at": suspendedAt.map { .string("\($0)") },
            "methods": .array(methods.map { .string($0.rawValue) }),
            "waiting": WaitingMethods.json(waiting.map { ($0, $1) }),
        ])
    }

    /// Reads a device; unknown members and methods are ignored.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        enrollment = try members.required("enrollment", "an enrollment id") { $0.string.flatMap { EnrollmentID($0) } }
        device = try DeviceDescription(
            try members.required("device", "an object") { $0 }, at: "/device", ignoringUnknown: true)
        fingerprint = try members.required("fingerprint", "40 hexadecimal digits") {
            $0.string.flatMap { Fingerprint($0[...]) }
        }
        state = try members.required("state", "\"active\", \"waiting\" or \"suspended\"") {
            $0.string.flatMap(EnrollmentState.init(rawValue:))
        }
        createdAt = try members.required("created_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        waitingUntil = try members.optional("waiting_until", "a time") { $0.string.flatMap { Timestamp($0) } }
        suspendedAt = try members.optional("suspended_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        methods = try members.required("methods", "an array of methods") { value in
            value.array?.compactMap { $0.string.flatMap(AnswerMethod.init(rawValue:)) }
        }
        waiting = try WaitingMethods.read(&members)
    }
}

/// The reply to `GET /v1/enrollments/self/others`.
public struct OtherDevicesReply: Sendable {
    /// The nonce for a ``DeviceAct``, valid for five minutes.
    public let nonce: Nonce
    /// Whether the user has a method that counts on any device: then an act may need a method's signature.
    public let needsMethod: Bool
    /// The devices.
    public let devices: [OtherDevice]

    /// A reply of these parts.
    public init(nonce: Nonce, needsMethod: Bool, devices: [OtherDevice]) {
        self.nonce = nonce
        self.needsMethod = needsMethod
        self.devices = devices
    }

    /// The reply as JSON.
    public var json: JSONValue {
        [
            "nonce": .string("\(nonce)"), "needs_method": .bool(needsMethod),
            "enrollments": .array(devices.map(\.json)),
        ]
    }

    /// Reads a reply; unknown members are ignored.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        nonce = try members.required("nonce", "64 hexadecimal digits") { $0.string.flatMap { Nonce($0) } }
        needsMethod = try members.optionalBool("needs_method") ?? false
        devices = try members.required("enrollments", "an array") { $0.array }.map {
            device throws(JSONShapeError) in try OtherDevice(device)
        }
    }
}
