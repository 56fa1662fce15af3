public import Encodings
public import JOSE
public import OpenPGP

/// How a device keeps its keys, as it declares.
public enum KeyStorage: String, Sendable {
    /// In a secure enclave.
    case enclave
    /// In software.
    case software
}

/// The part of a device's description that it may change later.
public struct DeviceLabels: Hashable, Sendable {
    /// The user's name for the device.
    public var name: DisplayLine
    /// The model.
    public var model: DisplayLine?
    /// The operating system and its version.
    public var system: DisplayLine?
    /// The app's name and version.
    public var app: DisplayLine?

    /// Labels of these parts.
    public init(
        name: DisplayLine, model: DisplayLine? = nil, system: DisplayLine? = nil, app: DisplayLine? = nil
    ) {
        self.name = name
        self.model = model
        self.system = system
        self.app = app
    }

    /// The labels as JSON.
    public var json: JSONValue {
        .members([
            "name": .string(name.text), "model": model.map { .string($0.text) },
            "system": system.map { .string($0.text) }, "app": app.map { .string($0.text) },
        ])
    }

    /// Reads labels at a JSON pointer.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        self = try members.labels()
        try members.refuseUnknown()
    }
}

/// A device's description of itself at its enrollment.
public struct DeviceDescription: Hashable, Sendable {
    /// The part that it may change later.
    public var labels: DeviceLabels
    /// How it keeps its keys: fixed, because it belongs to these keys.
    public let storage: KeyStorage

    /// The user's name for the device.
    public var name: DisplayLine { labels.name }

    /// A description of these parts.
    public init(labels: DeviceLabels, storage: KeyStorage) {
        self.labels = labels
        self.storage = storage
    }

    /// A description of a device of this name.
    public init(name: DisplayLine, storage: KeyStorage) {
        self.init(labels: DeviceLabels(name: name), storage: storage)
    }

    /// The description as JSON.
    public var json: JSONValue {
        var object = labels.json.object ?? [:]
        object["storage"] = .string(storage.rawValue)
        return .object(object)
    }

    /// Reads a description at a JSON pointer.
    ///
    /// - Parameters:
    ///   - json: the description.
    ///   - pointer: the JSON pointer to it.
    ///   - isTolerant: whether unknown members are ignored, as in what a newer server says, instead of refused.
    /// - Throws: `JSONShapeError`, with the member that is wrong.
    public init(_ json: JSONValue, at pointer: String, ignoringUnknown isTolerant: Bool = false) throws(JSONShapeError)
    {
        var members = try JSONMembers(json, at: pointer)
        labels = try members.labels()
        storage = try members.required("storage", "\"enclave\" or \"software\"") {
            $0.string.flatMap(KeyStorage.init(rawValue:))
        }
        if !isTolerant { try members.refuseUnknown() }
    }
}

extension JSONMembers {
    fileprivate mutating func labels() throws(JSONShapeError) -> DeviceLabels {
        let expected = "one line of at most 100 characters that can be shown"
        func line(_ value: JSONValue) -> DisplayLine? { try? value.string.map { try DisplayLine($0, atMost: 100) } }
        return DeviceLabels(
            name: try required("name", expected, line), model: try optional("model", expected, line),
            system: try optional("system", expected, line), app: try optional("app", expected, line))
    }
}

extension DeviceLabels {
    /// Refuses a device's name that looks like another name.
    func checkNames(at pointer: String) throws(JSONShapeError) {
        for (member, line) in [("name", name), ("model", model), ("system", system), ("app", app)] {
            guard let line else { continue }
            do { try DisplayLimits.check(name: line.text) } catch {
                throw .invalid(pointer: "\(pointer)/\(member)", expected: "a name (\(error.rawValue))")
            }
        }
    }
}

/// The body of `POST /v1/enrollments`.
public struct EnrollmentRequest: Sendable {
    /// The secret of the ticket.
    public let ticket: Secret<String>
    /// The device's certificate, binary.
    public let certificate: [UInt8]
    /// The device's description of itself.
    public let device: DeviceDescription
    /// The versions of ``ChallengeBody`` that the device reads.
    public let versions: [Int64]
    /// The device's push registration; nil if it polls.
    public let push: PushRegistration?

    /// A request of these parts.
    public init(
        ticket: Secret<String>, certificate: [UInt8], device: DeviceDescription, versions: [Int64],
        push: PushRegistration? = nil
    ) {
        self.ticket = ticket
        self.certificate = certificate
        self.device = device
        self.versions = versions
        self.push = push
    }

    /// The request as JSON.
    public var json: JSONValue {
        .members([
            "ticket": .string(ticket.reveal()), "certificate": .string(Base64.encode(certificate)),
            "device": device.json,
            "versions": .array(versions.map(JSONValue.integer)), "push": push?.json,
        ])
    }

    /// Reads a request.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        ticket = Secret(try members.string("ticket"))
        certificate = try members.required("certificate", "base64") { $0.string.flatMap { Base64.decode($0) } }
        let device = try members.required("device", "an object") { $0 }
        self.device = try DeviceDescription(device, at: members.pointer(to: "device"))
        try self.device.labels.checkNames(at: members.pointer(to: "device"))
        versions = try members.required("versions", ChallengeBody.expectedVersions, ChallengeBody.versions)
        push = try members.value("push").map { value throws(JSONShapeError) in
            try PushRegistration(value, at: members.pointer(to: "push"))
        }
        try members.refuseUnknown()
    }
}

/// What a new device shows its user while it waits for the approval of another device.
public struct ApprovalNotice: Hashable, Sendable {
    /// The number to type on the other device; nil if no device could type it.
    public let number: EntryNumber?
    /// When the new device becomes active without an approval.
    public let expiresAt: Timestamp

    /// A notice of these parts.
    public init(number: EntryNumber?, expiresAt: Timestamp) {
        self.number = number
        self.expiresAt = expiresAt
    }

    /// The notice as JSON.
    public var json: JSONValue {
        .members(["number": number.map { .string($0.digits) }, "expires_at": .string("\(expiresAt)")])
    }

    /// Reads a notice at a JSON pointer.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        number = try members.optional("number", "\(EntryNumber.length) digits") {
            $0.string.flatMap { EntryNumber($0) }
        }
        expiresAt = try members.required("expires_at", "a time") { $0.string.flatMap { Timestamp($0) } }
    }
}

/// The reply to `POST /v1/enrollments`.
public struct EnrollmentReply: Sendable {
    /// The enrollment.
    public let enrollment: EnrollmentID
    /// The user.
    public let user: UserID
    /// The issuer's certificate.
    public let serverCertificate: Certificate
    /// The issuer's keys for push envelopes.
    public let pushKeys: JWKSet
    /// The policies that the app needs for its prompts.
    public let policies: EnrollmentPolicies
    /// What the enrollment waits for before it can approve; nil if it need not wait.
    public let approval: ApprovalNotice?

    /// A reply of these parts.
    public init(
        enrollment: EnrollmentID, user: UserID, serverCertificate: Certificate, pushKeys: JWKSet,
        policies: EnrollmentPolicies, approval: ApprovalNotice?
    ) {
        self.policies = policies
        self.approval = approval
        self.enrollment = enrollment
        self.user = user
        self.serverCertificate = serverCertificate
        self.pushKeys = pushKeys
    }

    /// The reply as JSON.
    public var json: JSONValue {
        .members([
            "enrollment": .string("\(enrollment)"), "user": .string("\(user)"),
            "server_certificate": .string(serverCertificate.armored), "push_keys": pushKeys.json,
            "policies": policies.json, "approval": approval?.json,
        ])
    }

    /// Reads a reply; unknown members are ignored.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        enrollment = try members.required("enrollment", "an enrollment id") { $0.string.flatMap { EnrollmentID($0) } }
        user = try members.required("user", "a user id") { $0.string.flatMap { UserID($0) } }
        serverCertificate = try members.required("server_certificate", "an armored certificate") {
            try? $0.string.map { try Certificate(armored: $0) }
        }
        pushKeys = try members.required("push_keys", "a set of keys") { try? JWKSet($0) }
        policies = try EnrollmentPolicies(members.value("policies") ?? [:], at: members.pointer(to: "policies"))
        approval = try members.value("approval").map { value throws(JSONShapeError) in
            try ApprovalNotice(value, at: members.pointer(to: "approval"))
        }
    }
}

/// The body of `POST /v1/challenges/{id}/answer`.
public struct AnswerRequest: Sendable {
    /// The sealed receipt: a binary OpenPGP message.
    public let message: [UInt8]
    /// The sealed ``CustomData``, a binary OpenPGP message, for an approval by a custom authenticator.
    public let customData: [UInt8]?

    /// An answer with this message.
    public init(message: [UInt8], customData: [UInt8]? = nil) {
        self.message = message
        self.customData = customData
    }

    /// The request as JSON.
    public var json: JSONValue {
        .members([
            "message": .string(Base64.encode(message)),
            "custom_data": customData.map { .string(Base64.encode($0)) },
        ])
    }

    /// Reads a request.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        message = try members.required("message", "base64") { $0.string.flatMap { Base64.decode($0) } }
        customData = try members.optional("custom_data", "base64") { $0.string.flatMap { Base64.decode($0) } }
        try members.refuseUnknown()
    }
}

/// The reply to an accepted answer.
public struct AnswerReply: Equatable, Sendable {
    /// The status of the challenge.
    public let status: ChallengeStatus
    /// The data that a custom authenticator returned to the app; nil for none.
    public let payload: String?
    /// The sealed ``ReturnMessage``, a binary OpenPGP message, which holds the return code of an approval by a link;
    /// nil for every other answer.
    public var returnMessage: [UInt8]?

    /// A reply of these parts.
    public init(status: ChallengeStatus, payload: String?, returnMessage: [UInt8]? = nil) {
        self.status = status
        self.payload = payload
        self.returnMessage = returnMessage
    }

    /// The reply as JSON.
    public var json: JSONValue {
        .members([
            "state": .string(status.state), "reason": status.reason.map(JSONValue.string),
            "payload": payload.map(JSONValue.string), "return": returnMessage.map { .string(Base64.encode($0)) },
        ])
    }

    /// Reads a reply; unknown members are ignored.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        status = try ChallengeStatus(json)
        var members = try JSONMembers(json)
        payload = try members.optionalString("payload")
        returnMessage = try members.optional("return", "base64") { $0.string.flatMap { Base64.decode($0) } }
    }
}

/// The status of a challenge, in the terms of the API.
public struct ChallengeStatus: Hashable, Sendable {
    /// `pending`, `approved`, `denied`, `failed`, `cancelled` or `expired`.
    public let state: String
    /// The reason, if the state alone does not tell it.
    public let reason: String?

    /// A status of these terms.
    public init(state: String, reason: String?) {
        self.state = state
        self.reason = reason
    }

    /// The status as JSON.
    public var json: JSONValue {
        .members(["state": .string(state), "reason": reason.map(JSONValue.string)])
    }

    /// Reads a status from an object, which may have other members.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        state = try members.string("state")
        reason = try members.optionalString("reason")
    }
}
