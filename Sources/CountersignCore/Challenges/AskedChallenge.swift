package import CountersignWire
import Encodings

/// The challenge that was asked, with what is shown this once.
package struct AskedChallenge: Equatable, Sendable {
    /// The challenge as it was asked.
    package let challenge: ShownChallenge
    /// The number to show; nil when none must be typed.
    package let number: EntryNumber?
    /// The code to show; nil where devices were asked.
    package let code: ShownCode?
    /// On which devices.
    package let enrollments: [EnrollmentID]

    init(_ decided: AskChallenge.Decided) {
        challenge = ShownChallenge(decided.challenge)
        number = decided.number
        code = decided.code
        enrollments = decided.enrollments
    }
}

/// A repeat is shown the challenge as it was asked, also when it has ended since, or when its user was erased: ids and
/// times are kept, and nothing personal.
extension AskChallenge.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .asked(let asked) = self else { return nil }
        let challenge = asked.challenge
        return KeptForm([
            "challenge": .string("\(challenge.id)"), "type": .string("\(challenge.type)"),
            "user": challenge.user.map { .string("\($0)") },
            "methods": .array(challenge.methods.map { .string($0.rawValue) }),
            "asked_at": .string("\(challenge.askedAt)"), "expires_at": .string("\(challenge.expiresAt)"),
            "number": asked.number.map { .string($0.digits) },
            "otp": asked.code.map { .string($0.code.otp.reveal()) },
            "code_form": asked.code.map { .string($0.code.form.rawValue) },
            "code_until": asked.code.map { .string("\($0.expiresAt)") },
            "enrollments": .array(asked.enrollments.map { .string("\($0)") }),
        ])
    }

    init?(kept: KeptForm, of request: AskChallenge.Request) {
        guard let challenge = ShownChallenge(kept: kept, of: request) else { return nil }
        self = .asked(
            AskedChallenge(
                challenge: challenge, number: kept.read("number") { EntryNumber($0) },
                code: ShownCode(kept: kept, of: challenge.id),
                enrollments: kept["enrollments"]?.array?.compactMap { $0.string.flatMap { EnrollmentID($0) } } ?? []))
    }
}

extension AskedChallenge {
    fileprivate init(
        challenge: ShownChallenge, number: EntryNumber?, code: ShownCode?, enrollments: [EnrollmentID]
    ) {
        self.challenge = challenge
        self.number = number
        self.code = code
        self.enrollments = enrollments
    }
}

extension ShownChallenge {
    fileprivate init?(kept: KeptForm, of request: AskChallenge.Request) {
        guard let id = kept.read("challenge", { ChallengeID($0) }), let type = kept.read("type", { TypeName($0) }),
            let askedAt = kept.read("asked_at", { Timestamp($0) }),
            let expiresAt = kept.read("expires_at", { Timestamp($0) })
        else { return nil }
        self.init(
            id: id, type: type, user: kept.read("user") { UserID($0) },
            methods: kept["methods"]?.array?.compactMap { $0.string.flatMap { AnswerMethod(rawValue: $0) } } ?? [],
            askedAt: askedAt, expiresAt: expiresAt, claimedAt: nil, clientState: request.clientState, state: .pending)
    }
}

extension ShownCode {
    fileprivate init?(kept: KeptForm, of challenge: ChallengeID) {
        guard let otp = kept["otp"]?.string, let form = kept.read("code_form", { ChallengeCode.Form(rawValue: $0) }),
            let until = kept.read("code_until", { Timestamp($0) })
        else { return nil }
        code = ChallengeCode(challenge: challenge, otp: Secret(otp), form: form)
        expiresAt = until
    }
}
