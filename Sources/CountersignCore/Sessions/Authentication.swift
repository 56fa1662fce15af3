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
    /// The challenge that the user approved; its receipt is the evidence.
    package let challenge: ChallengeID
    /// The device that approved.
    package let enrollment: EnrollmentID

    /// How strong an authentication is: the values of `acr`, weakest first.
    package enum Strength: String, CaseIterable, Sendable {
        /// A trusted device of the user.
        case device = "urn:countersign:acr:device"
        /// A trusted device, and the user's PIN or biometric on it.
        case twoFactors = "urn:countersign:acr:device2"
        /// An approval under a type that is labelled AAL2.
        case aal2 = "urn:countersign:acr:aal2"
    }

    /// An authentication of these parts.
    package init(
        user: UserID, at: Timestamp, methods: [String], strength: Strength, challenge: ChallengeID,
        enrollment: EnrollmentID
    ) {
        self.user = user
        self.at = at
        self.methods = methods
        self.strength = strength
        self.challenge = challenge
        self.enrollment = enrollment
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
    ///   - now: the time of the approval.
    init(by challenge: Challenge, _ method: AnswerMethod, on device: Enrollment, isAAL2: Bool, at now: Timestamp) {
        var methods = [device.device.storage == .enclave ? "hwk" : "swk", "user", "mca"]
        let hasSecondFactor: Bool
        switch method {
        case .confirm, .custom: hasSecondFactor = false
        case .pin:
            methods += ["pin", "mfa"]
            hasSecondFactor = true
        case .biometric:
            methods.append("mfa")
            hasSecondFactor = true
        }
        self.init(
            user: device.user, at: now, methods: methods,
            strength: isAAL2 ? .aal2 : hasSecondFactor ? .twoFactors : .device, challenge: challenge.id,
            enrollment: device.id)
    }
}

/// The form in which rows hold it.
extension Authentication {
    package var json: JSONValue {
        [
            "user": .string("\(user)"), "at": .string("\(at)"), "amr": .array(methods.map(JSONValue.string)),
            "acr": .string(strength.rawValue), "challenge": .string("\(challenge)"),
            "enrollment": .string("\(enrollment)"),
        ]
    }

    /// Reads the form; nil if it is malformed.
    package init?(_ json: JSONValue) {
        guard let user = json["user"]?.string.flatMap({ UserID($0) }),
            let at = json["at"]?.string.flatMap({ Timestamp($0) }), let methods = json["amr"]?.array?.map(\.string),
            let strength = json["acr"]?.string.flatMap({ Strength(rawValue: $0) }),
            let challenge = json["challenge"]?.string.flatMap({ ChallengeID($0) }),
            let enrollment = json["enrollment"]?.string.flatMap({ EnrollmentID($0) })
        else { return nil }
        self.init(
            user: user, at: at, methods: methods.compactMap(\.self), strength: strength, challenge: challenge,
            enrollment: enrollment)
    }
}
