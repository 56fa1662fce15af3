package import CountersignWire
package import Encodings

/// Who was authenticated, how and when.
///
/// Everything that follows from a sign-in copies it: the session, the tokens, and what refreshes them.
package struct Authentication: Hashable, Sendable {
    /// The user.
    package let user: UserID
    /// When the user was authenticated.
    package let at: Timestamp
    /// How, in the words of `amr`.
    ///
    /// Spec: RFC 8176 §2.
    package let methods: [String]
    /// How strong the authentication is, in the words of `acr`.
    package let strength: Strength
    /// What shows it.
    package let evidence: Evidence

    /// What shows that somebody was authenticated.
    package enum Evidence: Hashable, Sendable {
        /// A device of the user, and the challenge that the user approved on it, whose receipt can be verified.
        ///
        /// Without a challenge the device has signed by itself, and nobody was asked. That opens no session.
        case approval(ChallengeID?, EnrollmentID)
        /// A code that was sent to an address of the user.
        case code(IdentifierID, PersonalAddress.Kind)
        /// A passkey of the user.
        case passkey(PasskeyID)

        /// The challenge that the user approved; nil for none.
        package var challenge: ChallengeID? { if case .approval(let challenge, _) = self { challenge } else { nil } }
        /// The device that approved or signed; nil for none.
        package var enrollment: EnrollmentID? { if case .approval(_, let device) = self { device } else { nil } }
        /// Whether it shows no more than that somebody reads what is sent to an address.
        var isCode: Bool { if case .code = self { true } else { false } }
    }

    /// How strong an authentication is: the values of `acr`, weakest first.
    package enum Strength: String, CaseIterable, Comparable, Sendable {
        /// A code that was sent to an address; whoever reads what is sent there has it.
        case address = "urn:countersign:acr:address"
        /// A trusted device of the user.
        case device = "urn:countersign:acr:device"
        /// A trusted device, and the user's PIN or biometric on it.
        case twoFactors = "urn:countersign:acr:device2"
        /// An approval under a type that is labelled AAL2.
        case aal2 = "urn:countersign:acr:aal2"
        /// A passkey, which no other page than ours can use; the value is that of OpenID Connect EAP ACR Values 1.0.
        case phishingResistant = "phr"
        /// A passkey that cannot leave its device; the value is that of OpenID Connect EAP ACR Values 1.0.
        case hardwareBound = "phrh"

        /// The order of the cases.
        package static func < (left: Strength, right: Strength) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// An authentication of these parts.
    package init(
        user: UserID, at: Timestamp, methods: [String], strength: Strength, evidence: Evidence
    ) {
        self.user = user
        self.at = at
        self.methods = methods
        self.strength = strength
        self.evidence = evidence
    }

    /// The authentication by a code that was sent to an address.
    ///
    /// Spec: RFC 8176 §2 (`otp`, `sms`).
    init(by identifier: VerifiedIdentifier, at now: Timestamp) {
        let kind = identifier.address.kind
        self.init(
            user: identifier.user, at: now, methods: kind == .phone ? ["otp", "sms"] : ["otp"], strength: .address,
            evidence: .code(identifier.id, kind))
    }

    /// The authentication by the signature of a device, of whose user nobody has asked anything.
    init(byItself device: Enrollment, at now: Timestamp) {
        self.init(
            user: device.user, at: now, methods: [device.keyWord], strength: .device,
            evidence: .approval(nil, device.id))
    }

    /// The authentication by an approved challenge.
    ///
    /// `mca` says that a number or a code was carried from one device to the other. Nothing in RFC 8176 says "some
    /// biometric", so that a biometric adds `mfa` alone.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - method: the method by which it was approved.
    ///   - device: the device that approved.
    ///   - isAAL2: whether the challenge's type is labelled AAL2.
    ///   - isCarried: whether a number or a code was carried from one device to the other.
    ///   - now: the time of the approval.
    init(
        by challenge: Challenge, _ method: AnswerMethod, on device: Enrollment, isAAL2: Bool, isCarried: Bool = true,
        at now: Timestamp
    ) {
        var methods = [device.keyWord, "user"] + (isCarried ? ["mca"] : [])
        switch method {
        case .confirm, .custom: break
        case .pin: methods += ["pin", "mfa"]
        case .biometric: methods.append("mfa")
        }
        self.init(
            user: device.user, at: now, methods: methods,
            // The type may have got its label after the device was asked.
            strength: method.strength(isAAL2: isAAL2 && device.signsReceipts),
            evidence: .approval(challenge.id, device.id))
    }
}

extension AnswerMethod {
    /// How strong a sign-in is that was approved by this method.
    ///
    /// - Parameter isAAL2: whether the type of the challenge is labelled AAL2.
    func strength(isAAL2: Bool) -> Authentication.Strength {
        if isAAL2 { return .aal2 }
        return switch self {
        case .confirm, .custom: .device
        case .pin, .biometric: .twoFactors
        }
    }
}

extension Enrollment {
    /// The word for its keys in `amr`.
    ///
    /// Spec: RFC 8176 §2.
    fileprivate var keyWord: String { device.storage == .enclave ? "hwk" : "swk" }
}

/// The form in which rows hold it.
extension Authentication {
    package var json: JSONValue {
        var identifier: IdentifierID?
        var kind: PersonalAddress.Kind?
        var passkey: PasskeyID?
        switch evidence {
        case .approval: break
        case .code(let proved, let address): (identifier, kind) = (proved, address)
        case .passkey(let id): passkey = id
        }
        return .members([
            "user": .string("\(user)"), "at": .string("\(at)"), "amr": .array(methods.map(JSONValue.string)),
            "acr": .string(strength.rawValue), "challenge": evidence.challenge.map { .string("\($0)") },
            "enrollment": evidence.enrollment.map { .string("\($0)") },
            "identifier": identifier.map { .string("\($0)") }, "address": kind.map { .string($0.rawValue) },
            "passkey": passkey.map { .string("\($0)") },
        ])
    }

    /// Reads the form; nil if it is malformed.
    package init?(_ json: JSONValue) {
        guard let user = json["user"]?.string.flatMap({ UserID($0) }),
            let at = json["at"]?.string.flatMap({ Timestamp($0) }), let methods = json["amr"]?.array?.map(\.string),
            let strength = json["acr"]?.string.flatMap({ Strength(rawValue: $0) }), let evidence = Evidence(json)
        else { return nil }
        self.init(
            user: user, at: at, methods: methods.compactMap(\.self), strength: strength, evidence: evidence)
    }
}

extension Authentication.Evidence {
    fileprivate init?(_ json: JSONValue) {
        let challenge = json["challenge"]?.string.flatMap { ChallengeID($0) }
        if let enrollment = json["enrollment"]?.string.flatMap({ EnrollmentID($0) }) {
            // A challenge that cannot be read is not none.
            // check: AuthenticationTests.damaged
            guard (challenge == nil) == (json["challenge"] == nil) else { return nil }
            self = .approval(challenge, enrollment)
        } else if let identifier = json["identifier"]?.string.flatMap({ IdentifierID($0) }),
            let kind = json["address"]?.string.flatMap({ PersonalAddress.Kind(rawValue: $0) })
        {
            self = .code(identifier, kind)
        } else if let passkey = json["passkey"]?.string.flatMap({ PasskeyID($0) }) {
            self = .passkey(passkey)
        } else {
            return nil
        }
    }
}
