import CountersignWire

/// What NIST SP 800-63B-4 asks of an out-of-band authenticator at assurance level 2, as far as a challenge type decides
/// it; what a device decides is looked at when it is asked.
enum AAL2 {
    /// The longest a challenge may live.
    static let longestLifetime = Seconds.minutes(10)
    /// The most failed attempts in a row.
    static let maximumAsks = 100

    /// What a type would have to be, by member; empty for one that NIST accepts.
    static func violations(of type: ChallengeType) -> [ChallengeType.Violation] {
        var violations: [ChallengeType.Violation] = []
        func require(_ isMet: Bool, _ member: String, _ expected: String) {
            guard !isMet else { return }
            violations.append(
                ChallengeType.Violation(
                    member: member, expected: "\(expected), since the type is labelled AAL2"))
        }
        // Spec: NIST SP 800-63B-4 §3.1.3.4: an activation factor on each use; possession alone is one factor.
        // §3.2.3: whoever cannot or will not use a biometric is offered something else.
        require(
            type.methods.allSatisfy(\.takesSecondFactor) && type.methods.contains(.pin), "methods",
            "\"pin\", and \"biometric\" beside it at most")
        // Spec: NIST SP 800-63B-4 §3.1.3: approving and denying without entering a secret is not acceptable.
        // Scanning a secret that the session shows is such an entry.
        require(type.numberEntry || type.channel == .code, "number_entry", "true")
        // Spec: NIST SP 800-63B-4 §3.1.3.2.
        require(type.lifetime <= longestLifetime, "expires_in", "at most \(longestLifetime)")
        // Spec: NIST SP 800-63B-4 §3.1.3.1: the device authenticates itself by approved cryptography.
        require(type.assurance == .receipt, "assurance", "\"receipt\"")
        // Spec: NIST SP 800-63B-4 §3.2.2.
        require(type.maximumAsks <= maximumAsks, "max_asks", "at most \(maximumAsks)")
        // Another type could be weaker by the time it is fallen back to.
        require(type.fallback == nil, "fallback", "absent")
        require(type.unknownBrowser == nil, "unknown_browser", "absent")
        return violations
    }
}

extension AnswerMethod {
    /// Whether an answer by it proves more than possession of the device.
    var takesSecondFactor: Bool {
        switch self {
        // What a custom authenticator looks at is its client's to say.
        case .confirm, .custom: false
        case .pin, .biometric: true
        }
    }
}
