public import Encodings
public import OpenPGP

/// The lines that every change of methods begins with, whoever judges the method.
///
/// Spec: docs/protocol/methods.md, *A change*.
public struct ChangeHeader: Hashable, Sendable {
    /// The first line, which distinguishes changes from everything else that a key signs.
    static let title = "Countersign change v1"

    /// The issuer.
    public let issuer: Issuer
    /// The enrollment whose methods change.
    public let enrollment: EnrollmentID
    /// The server's nonce, so that the change is accepted only once.
    public let nonce: Nonce

    /// The beginning of a change of this enrollment's methods.
    public init(issuer: Issuer, enrollment: EnrollmentID, nonce: Nonce) {
        self.issuer = issuer
        self.enrollment = enrollment
        self.nonce = nonce
    }

    /// Reads the lines up to the method, or throws for the first wrong line.
    init(from lines: inout FieldLines) throws(ReceiptError) {
        guard lines.take()?.hasSameBytes(as: Self.title) == true else { throw .malformedField("title") }
        issuer = try lines.required("issuer") { Issuer($0) }
        enrollment = try lines.required("enrollment") { EnrollmentID($0) }
        nonce = try lines.required("nonce") { Nonce($0) }
    }

    /// The lines up to the method.
    func lines(for method: AnswerMethod) -> [String] {
        [
            Self.title, "issuer: \(issuer)", "enrollment: \(enrollment)", "nonce: \(nonce)",
            "method: \(method.rawValue)",
        ]
    }
}

/// The text that a device signs to set, replace or remove a method that a key of its certificate proves;
/// ``AuthenticatorChange`` is for custom authenticators.
///
/// It is signed by the primary key and, if the user has a PIN, also by the PIN's key; each signature is in a message of
/// its own. Spec: docs/protocol/methods.md, *The text for PIN and biometric*.
public struct MethodChange: Hashable, Sendable {
    /// The lines that every change begins with.
    public let header: ChangeHeader
    /// The method.
    public let method: AnswerMethod
    /// The fingerprint of the key that is replaced or removed; nil for the first key.
    public let old: Fingerprint?
    /// The fingerprint of the new key; nil when the method is removed.
    public let new: Fingerprint?
    /// The device's certificate with the new key bound and the old one revoked.
    public let certificate: [UInt8]

    /// A change of these parts.
    public init(
        _ header: ChangeHeader, method: AnswerMethod, old: Fingerprint?, new: Fingerprint?, certificate: [UInt8]
    ) {
        self.header = header
        self.method = method
        self.old = old
        self.new = new
        self.certificate = certificate
    }

    /// The text that is signed: lines separated by LF, without a final LF.
    public var text: String {
        var lines = header.lines(for: method)
        if let old { lines.append("old: \(old)") }
        if let new { lines.append("new: \(new)") }
        lines.append("certificate: \(Base64.encode(certificate))")
        return lines.joined(separator: "\n")
    }

    /// Reads a change, or nil; every accepted text renders to the same bytes again, and changes something.
    public init?(_ text: String) {
        var lines = FieldLines(text)
        do {
            header = try ChangeHeader(from: &lines)
            method = try lines.required("method") { AnswerMethod(rawValue: String($0)) }
            guard AnswerMethod.standard.contains(method) else { return nil }
            old = try lines.optional("old") { Fingerprint($0) }
            new = try lines.optional("new") { Fingerprint($0) }
            certificate = try lines.required("certificate") { Base64.decode($0) }
        } catch {
            return nil
        }
        guard old != nil || new != nil, old != new, !certificate.isEmpty,
            self.text.hasSameBytes(as: text)
        else { return nil }
    }
}

/// The body of `POST /v1/enrollments/self/methods`.
public struct MethodChangeRequest: Sendable {
    /// The change, sealed and signed by the primary key: a binary OpenPGP message.
    public let message: [UInt8]
    /// The same change, sealed and signed by the PIN's key; nil if there is no PIN yet.
    public let authorization: [UInt8]?
    /// The sealed ``CustomData``, for the registration of a custom authenticator.
    public let customData: [UInt8]?
    /// The secret of a ticket, if the enrollment is too old to set its first PIN without one.
    public let ticket: Secret<String>?

    /// A request of these parts.
    public init(
        message: [UInt8], authorization: [UInt8]? = nil, customData: [UInt8]? = nil, ticket: Secret<String>? = nil
    ) {
        self.message = message
        self.authorization = authorization
        self.customData = customData
        self.ticket = ticket
    }

    /// The request as JSON.
    public var json: JSONValue {
        .members([
            "message": .string(Base64.encode(message)),
            "authorization": authorization.map { .string(Base64.encode($0)) },
            "custom_data": customData.map { .string(Base64.encode($0)) },
            "ticket": ticket.map { .string($0.reveal()) },
        ])
    }

    /// Reads a request.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        message = try members.required("message", "base64") { $0.string.flatMap { Base64.decode($0) } }
        authorization = try members.optional("authorization", "base64") { $0.string.flatMap { Base64.decode($0) } }
        customData = try members.optional("custom_data", "base64") { $0.string.flatMap { Base64.decode($0) } }
        ticket = try members.optionalString("ticket").map { Secret($0) }
        try members.refuseUnknown()
    }
}

/// The reply to `GET /v1/enrollments/self/methods`: the status of an enrollment's methods, and how they may change.
public struct MethodsReply: Hashable, Sendable {
    /// The state of a PIN.
    public enum PINState: String, Sendable, CaseIterable {
        /// No PIN is set.
        case none
        /// A PIN is set.
        case set
        /// The PIN is locked: a wrong one was typed too often.
        case locked
    }

    /// The nonce for a change, valid for five minutes.
    public let nonce: Nonce
    /// The state of the PIN.
    public let pin: PINState
    /// How many wrong PINs are left.
    public let attemptsLeft: Int
    /// The rules for PINs.
    public let policy: PINPolicy
    /// Whether a key for biometrics is registered.
    public let hasBiometric: Bool
    /// The client's custom authenticators, each with whether it is registered.
    public let custom: [AuthenticatorName: Bool]
    /// The methods that are set but do not count yet, each with the time from which it counts.
    public let waiting: [AnswerMethod: Timestamp]
    /// For how many more changes of keys the certificate has room; after them the device must enroll anew.
    public let changesLeft: Int

    /// A reply of these parts.
    public init(
        nonce: Nonce, pin: PINState, attemptsLeft: Int, policy: PINPolicy, hasBiometric: Bool,
        custom: [AuthenticatorName: Bool] = [:], waiting: [AnswerMethod: Timestamp] = [:], changesLeft: Int
    ) {
        self.nonce = nonce
        self.pin = pin
        self.attemptsLeft = attemptsLeft
        self.policy = policy
        self.hasBiometric = hasBiometric
        self.custom = custom
        self.waiting = waiting
        self.changesLeft = changesLeft
    }

    /// The reply as JSON.
    public var json: JSONValue {
        .members([
            "nonce": .string("\(nonce)"),
            "pin": .members([
                "state": .string(pin.rawValue), "attempts_left": .integer(Int64(attemptsLeft)), "policy": policy.json,
            ]),
            "biometric": .bool(hasBiometric),
            "custom": .array(
                custom.sorted { $0.key < $1.key }.map { name, isRegistered in
                    .members(["name": .string("\(name)"), "registered": .bool(isRegistered)])
                }),
            "waiting": WaitingMethods.json(waiting.map { ($0, $1) }),
            "changes_left": .integer(Int64(changesLeft)),
        ])
    }

    /// Reads a reply; unknown members are ignored.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        nonce = try members.required("nonce", "64 hexadecimal digits") { $0.string.flatMap { Nonce($0) } }
        var pin = try JSONMembers(try members.required("pin", "an object") { $0 }, at: "/pin")
        self.pin = try pin.required("state", "\"none\", \"set\" or \"locked\"") {
            $0.string.flatMap(PINState.init(rawValue:))
        }
        attemptsLeft = Int(try pin.optionalInteger("attempts_left", in: 0...100) ?? 0)
        policy = try PINPolicy(
            try pin.required("policy", "an object") { $0 }, at: "/pin/policy", ignoringUnknown: true)
        hasBiometric = try members.optionalBool("biometric") ?? false
        var custom: [AuthenticatorName: Bool] = [:]
        for element in try members.array("custom") {
            var authenticator = try JSONMembers(element.value, at: element.pointer)
            let name = try authenticator.required("name", "the name of an authenticator") {
                $0.string.flatMap { AuthenticatorName($0) }
            }
            custom[name] = try authenticator.required("registered", "true or false") { $0.bool }
        }
        self.custom = custom
        waiting = try WaitingMethods.read(&members)
        // A server that does not send this member has no such limit.
        changesLeft = Int(
            try members.optionalInteger("changes_left", in: 0...1000)
                ?? Int64(DeviceCertificateForm.changesLeft(in: 0)))
    }
}
